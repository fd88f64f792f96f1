/** The filters that an address may carry after `?`, so that a filtered list can be linked. Unknown values are dropped. */
type Kind<Value extends string> = (text: string) => Value | undefined;

const text: Kind<string> = (value) => value;
const oneOf =
  <const Value extends string>(...values: readonly Value[]): Kind<Value> =>
  (given) =>
    values.find((value) => value === given);

type Values<Kinds> = { [Key in keyof Kinds]?: Kinds[Key] extends Kind<infer Value> ? Value | undefined : never };

function filters<const Kinds extends Readonly<Record<string, Kind<string>>>>(kinds: Kinds) {
  return (search: Record<string, unknown>): Values<Kinds> => {
    const chosen: Record<string, string | undefined> = {};
    for (const [key, kind] of Object.entries(kinds)) {
      const value = search[key];
      if (value !== undefined && value !== '') chosen[key] = kind(String(value));
    }
    return chosen as Values<Kinds>;
  };
}

export const runStatuses = ['running', 'queued', 'complete', 'incomplete', 'failed'] as const;
export const reservationStatuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'] as const;
export const letterStates = ['open', 'replayed', 'dropped', 'all'] as const;
export const letterKinds = ['event', 'record', 'delivery'] as const;
export const eventStates = ['pending', 'hydrate', 'waiting', 'done', 'dead'] as const;

export const runs = filters({ integration: text, status: oneOf(...runStatuses) });
export const reservations = filters({
  q: text,
  integration: text,
  status: oneOf(...reservationStatuses),
  type: oneOf('reservation', 'guest'),
});
export const deadLetters = filters({
  integration: text,
  kind: oneOf(...letterKinds),
  code: text,
  destination: text,
  message: text,
  q: text,
  state: oneOf(...letterStates),
});
export const guests = filters({ integration: text });
export const events = filters({ integration: text, state: oneOf(...eventStates) });
export const studio = filters({ connector: text, letter: text, hold: text, field: text, path: text });
export const integration = filters({
  job: oneOf('reprocess'),
  tab: oneOf('pull', 'push', 'deliveries', 'quality', 'onboarding'),
});
export const document = filters({ version: text, line: text });
export const night = filters({ day: text });
export const audit = filters({ actor: text, action: text, integration: text });
