import type { Reservation } from '../canonical/reservation.ts';
import type { EpochMs } from '../terms.ts';
import type { Consent, ConsentStatement } from './consent-run.ts';
import { merge } from './merge.ts';
import type { Moment, Source } from './statement.ts';
import { readViews, type StoredViews } from './stored-views.ts';

export function newerConsent(known: Consent | undefined, other: Consent | undefined): Consent | undefined {
  if (known === undefined || other === undefined) return known ?? other;
  const statements = statementsOf(known);
  for (const [source, statement] of Object.entries(statementsOf(other)) as [Source, ConsentStatement][]) {
    const before = statements[source];
    statements[source] = before === undefined ? statement : continued(before, statement);
  }
  const from = countsFrom(Object.entries(statements) as [Source, ConsentStatement][]);
  const [newest, ...rest] = (Object.entries(statements) as [Source, ConsentStatement][]).toSorted((a, b) =>
    from(a) === from(b) ? refusalFirst(a[1], b[1]) : from(b) - from(a),
  );
  if (newest === undefined) return known;
  const own = newerOwn(known.own, other.own);
  const made: Consent = {
    source: newest[0],
    ...newest[1],
    ...(rest.length > 0 && { others: Object.fromEntries(rest) }),
    ...(own && { own }),
  };
  return isEqual(made, known) ? known : made;
}

function statementsOf({ source, value, at, until, changed, others }: Consent): { [Name in Source]?: ConsentStatement } {
  return { ...others, [source]: { value, at, ...(until !== undefined && { until }), ...(changed && { changed }) } };
}

/**
 * Since when a statement counts. The partner's list and its events are one voice: the first yes of one of them repeats the older yes of
 * another. Only the comparison knows that, not what is stored: the other one may still be overturned by a message that arrives late.
 */
function countsFrom(all: readonly [Source, ConsentStatement][]): (one: [Source, ConsentStatement]) => EpochMs {
  const agreed = all.filter(([source, { value }]) => value === true && isPartner(source));
  const since = Math.min(...agreed.map(([, { at }]) => at));
  return ([source, { value, at, until = at, changed }]) =>
    value !== true ? until : isPartner(source) && !changed ? since : at;
}

const isPartner = (source: Source): boolean => !source.startsWith('destination:');

/** Two statements of one source, in either order of arrival. The rows of one page have one time: there a refusal wins. */
function continued(a: ConsentStatement, b: ConsentStatement): ConsentStatement {
  const lastOf = ({ at, until = at }: ConsentStatement) => until;
  const [older, newer] = lastOf(a) <= lastOf(b) ? [a, b] : [b, a];
  if (older.value === newer.value) {
    const at = Math.min(older.at, newer.at);
    const isChanged = older.changed || newer.changed;
    return {
      value: newer.value,
      at,
      ...(lastOf(newer) > at && { until: lastOf(newer) }),
      ...(isChanged && { changed: true }),
    };
  }
  if (lastOf(older) === lastOf(newer)) return refusalFirst(older, newer) < 0 ? older : newer;
  const at = lastOf(older) >= newer.at ? { at: lastOf(newer) } : newer;
  return { ...at, value: newer.value, changed: true };
}

const refusalFirst = (a: ConsentStatement, b: ConsentStatement): number =>
  Number(b.value === false) - Number(a.value === false);

function newerOwn(known: Consent['own'], other: Consent['own']): Consent['own'] {
  if (known === undefined || other === undefined) return known ?? other;
  return other.at > known.at || (other.at === known.at && other.value === false) ? other : known;
}

const isEqual = (a: Consent, b: Consent): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The consent of each guest of a stored reservation, by position. */
export function consentsIn(
  record: Reservation,
  views: StoredViews | undefined,
  moment: Moment,
): readonly (Consent | undefined)[] {
  if (!record.guests.some(({ marketing_consent }) => marketing_consent !== undefined)) return [];
  const { givers } = merge(readViews(views, record, moment));
  return record.guests.map(({ marketing_consent: value }, index) => {
    const giver = givers.get(`guests[${index}].marketing_consent`);
    return value === undefined || giver === undefined ? undefined : { value, source: giver.source, at: giver.at[0] };
  });
}
