import type { Answer } from '../api/client.ts';
import type { Mark } from '../api/types.ts';
import { actionText } from './actions.ts';
import { plural } from './format.ts';

/** What happened in a time, of several answers of the API. */
export interface Told {
  readonly incidents: Answer<'incidents.list'>['items'];
  readonly holds: Answer<'holds.list'>['items'];
  readonly marks: readonly Mark[];
  readonly nodes: Answer<'overview.get'>['nodes'];
}

export interface Entry {
  readonly at: string;
  /** When it ended; null while it goes on, and for what has no duration. */
  readonly until: string | null;
  readonly kind: 'incident' | 'hold' | 'action' | 'node';
  readonly severity: 'warning' | 'critical' | null;
  readonly title: string;
  readonly text: string;
  /** Of the incident or the hold. */
  readonly id: string | null;
}

/** Everything between two times on one line of time, oldest first. */
export function entriesOf({ incidents, holds, marks, nodes }: Told, from: Date, to: Date): Entry[] {
  const plain = { until: null, severity: null, text: '', id: null };
  const touches = (at: string, until: string | null) =>
    new Date(at) <= to && (until === null || new Date(until) >= from);
  const isWithin = (at: string) => new Date(at) >= from && new Date(at) <= to;
  const entries: Entry[] = [
    ...incidents.map((one) => ({
      at: one.started_at,
      until: one.ended_at,
      kind: 'incident' as const,
      severity: one.severity,
      title: one.title,
      text: one.message,
      id: one.incident_id,
    })),
    ...holds
      .filter(({ at, closed_at }) => touches(at, closed_at ?? null))
      .map((one) => ({
        at: one.at,
        until: one.closed_at ?? null,
        kind: 'hold' as const,
        severity: 'warning' as const,
        title: `Values of ${one.integration} held back`,
        text: `${one.message}; ${
          one.state === 'open'
            ? `${plural(one.waiting, 'booking')} without a decision`
            : `${one.state}${one.closed_by ? ` by ${one.closed_by}` : ''}`
        }.`,
        id: one.id,
      })),
    ...marks.map((one) => ({
      ...plain,
      at: one.at,
      kind: 'action' as const,
      title: `${actionText(one)}, by ${one.actor}`,
    })),
    ...nodes
      .filter(({ started_at }) => isWithin(started_at))
      .map(({ node, role, started_at }) => ({
        ...plain,
        at: started_at,
        kind: 'node' as const,
        title: `Node ${node} (${role}) started`,
      })),
  ];
  return entries.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
