import type { Runtime } from '../runtime/runtime.ts';
import { type Flow, readFlow } from '../store/operate/activity.ts';
import { type OperatorAction, operatorActions } from '../store/operate/incidents.ts';
import { liveNodes } from '../store/operate/nodes.ts';
import { readCause, titleOf } from '../watch/causes.ts';
import { holds } from './holds.ts';
import { incidentList, namesIn } from './incidents.ts';

export interface StoryEntry {
  readonly at: Date;
  /** When it ended; null while it goes on, and for what has no duration. */
  readonly until: Date | null;
  readonly kind: 'incident' | 'hold' | 'node';
  readonly severity: 'warning' | 'critical' | null;
  readonly title: string;
  readonly text: string;
  /** Of the incident or the hold. */
  readonly id: string | null;
}

export interface Story {
  readonly entries: readonly StoryEntry[];
  readonly actions: readonly (Omit<OperatorAction, 'target'> & { readonly what: string })[];
  readonly flow: Flow;
}

const mostEntries = 200;

/** What happened between two times, in order: incidents, holds, nodes that started; what people changed; and how much flowed. */
export async function storyOf(
  runtime: Runtime,
  { from, to, within }: { readonly from: Date; readonly to: Date; readonly within: readonly string[] | undefined },
): Promise<Story> {
  const { pool } = runtime;
  const isLimited = within !== undefined;
  const during = { from, to };
  const incidents = await incidentList(runtime, { open: false, within, before: undefined, during, limit: mostEntries });
  const held = await holds(runtime, { integrations: within });
  const actions = await operatorActions(pool, { integrations: within, isLimited, from, to, limit: mostEntries });
  const nodes = isLimited ? [] : await liveNodes(pool);
  const isWithin = (at: Date) => at >= from && at <= to;
  const entries: StoryEntry[] = [
    ...incidents.map(({ incident_id, cause, severity, message, started_at, ended_at }) => ({
      at: started_at,
      until: ended_at,
      kind: 'incident' as const,
      severity,
      title: titleOf(readCause(cause)),
      text: message,
      id: incident_id,
    })),
    ...held
      .map((hold) => ({ ...hold, at: new Date(hold.at), until: hold.closed_at ? new Date(hold.closed_at) : null }))
      .filter(({ at, until }) => at <= to && (until === null || until >= from))
      .map(({ id, at, until, integration, message, waiting, state, closed_by }) => ({
        at,
        until,
        kind: 'hold' as const,
        severity: 'warning' as const,
        title: `Values of ${integration} held back`,
        text: `${message}; ${state === 'open' ? `${waiting} bookings wait for a decision` : `${state}${closed_by ? ` by ${closed_by}` : ''}`}.`,
        id,
      })),
    ...nodes
      .filter(({ started_at }) => isWithin(started_at))
      .map(({ node, role, started_at }) => ({
        at: started_at,
        until: null,
        kind: 'node' as const,
        severity: null,
        title: `Node ${node} started`,
        text: role,
        id: null,
      })),
  ];
  return {
    entries: entries.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    actions: actions.map(({ target, ...one }) => ({ ...one, what: namesIn(target) })),
    flow: await readFlow(pool, from, to, within),
  };
}
