import { useEffect, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import type { Json, WholeDeadLetter } from '../../api/types.ts';
import { useTabDraft } from '../../parts/draft.ts';
import { inside } from '../../parts/inside.ts';
import { useMay } from '../../shell/session.ts';
import type { Case } from './CasesCard.tsx';

export const zones = Intl.supportedValuesOf('timeZone');

/** The sample, and the brand or the property that it is mapped for. `source` is the connector in force. */
export function useSample(
  connector: string | undefined,
  { letter: letterId, hold: holdId }: { letter?: string | undefined; hold?: string | undefined },
  source: string | undefined,
) {
  const [draft, setText] = useTabDraft<string>('studio sample');
  const [isEvent, setIsEvent] = useState(false);
  const staleMs = 30_000;
  const ofConnector = { connector: connector ?? '' };
  const users =
    useApi('integrations.list', ofConnector, { staleMs, enabled: connector !== undefined }).data?.items ?? [];
  // Preferably a brand that is pulled, because a sample can be fetched from it.
  const user = (users.find(({ pull }) => pull !== null) ?? users[0])?.name;
  const [asBrand, setAsBrand] = useState<string>();
  const integration = asBrand ?? user;
  const isNamed = integration !== undefined && integration !== '';
  const brand = useApi('integrations.get', { integration: integration ?? '' }, { staleMs, enabled: isNamed }).data;
  // Of a property that is not connected yet.
  const [timezone, setTimezone] = useState('');
  const [country, setCountry] = useState('');
  const letter = useApi('dead_letters.get', { id: letterId ?? '' }, { enabled: letterId !== undefined });
  useEffect(() => {
    if (!letter.data) return;
    setText(JSON.stringify(sampleOf(letter.data, source ?? ''), null, 2));
    setIsEvent(letter.data.kind === 'event');
    setAsBrand(letter.data.integration);
  }, [letter.data, source, setText]);
  const held = useApi('holds.preview', { hold_id: holdId ?? '' }, { enabled: holdId !== undefined }).data;
  useEffect(() => {
    if (held?.remedy === undefined) return;
    setText(JSON.stringify(underRoot(held.remedy.sample as Json, source ?? ''), null, 2));
    setAsBrand(held.hold.integration);
  }, [held, source, setText]);
  const last = useLastPayload(draft === undefined && letterId === undefined && holdId === undefined ? user : undefined);
  useEffect(() => {
    if (last !== undefined && source !== undefined) setText(JSON.stringify(underRoot(last, source), null, 2));
  }, [last, source, setText]);
  const fetching = useAct(
    (integration: string) => call('map.fetch', { integration }),
    (page) => {
      setText(indented(page.sample));
      return `Fetched one page for ${page.window.from} to ${page.window.to}.`;
    },
  );
  return {
    text: draft?.value ?? '',
    setText,
    isEvent,
    setIsEvent,
    /** A brand that uses the connector. */
    user,
    integration,
    setAsBrand,
    isPulled: isNamed && (brand?.pull ?? null) !== null,
    timezone,
    setTimezone,
    country,
    setCountry,
    property: integration
      ? {}
      : {
          ...(zones.includes(timezone) && { timezone }),
          ...(/^[A-Z]{2}$/.test(country) && { country }),
        },
    fetching,
    open: (one: Case) => {
      setText(indented(one.sample));
      setIsEvent(one.push);
      setAsBrand('');
      setTimezone(one.timezone ?? '');
      setCountry(one.country ?? '');
    },
  };
}

export type Sample = ReturnType<typeof useSample>;

/** The newest payload that a pull brought for the brand, to begin with. Reading it is audited, so only for those who map. */
function useLastPayload(integration: string | undefined): Json | undefined {
  const enabled = useMay('operator') && integration !== undefined;
  const once = { staleMs: Number.POSITIVE_INFINITY, onFocus: false, retry: false } as const;
  const brand = { integration: integration ?? '' };
  const [newest] = useApi('reservations.search', { ...brand, limit: 1 }, { ...once, enabled }).data?.items ?? [];
  const story = useApi(
    'reservations.timeline',
    { ...brand, id: newest?.id ?? '', limit: 50 },
    { ...once, enabled: enabled && newest !== undefined },
  ).data;
  const received = story?.timeline.findLast(
    (entry) => entry.what === 'received' && entry.cause === 'run' && entry.raw !== undefined,
  );
  return received && 'raw' in received ? (received.raw as Json) : undefined;
}

/** A dead letter in the form the partner sent it: an event as it is, a record inside the list it came from. */
function sampleOf({ event, raw }: WholeDeadLetter, source: string): Json {
  const body = inside(event, 'body');
  if (body !== undefined && body !== null) return body;
  return underRoot(inside(raw, 'value') ?? raw, source);
}

/** A record where the connector finds its list. */
function underRoot(value: Json, source: string): Json {
  const root = /(?:^|[{,])\s*root_path:\s*["']?([\w.]+)/m.exec(source)?.[1];
  return root === undefined ? [value] : root.split('.').reduceRight<Json>((inner, key) => ({ [key]: inner }), [value]);
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
