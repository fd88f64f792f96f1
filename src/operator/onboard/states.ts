/**
 * An onboarding link, from its making to its end:
 *
 *   preparing ──▶ ready ──▶ live
 *       ▲           │
 *       └───────────┘ the partner changes its connection
 *
 *   each of them ──▶ revoked, by the operator, or expired, by time
 *
 * Every action asks `linkRefusal` in its own transaction, with the link locked: nothing happens to a link that ended or went live meanwhile.
 */
export type LinkState = 'preparing' | 'ready' | 'live' | 'revoked' | 'expired';

const page = ['open', 'view', 'comment'] as const;
const push = ['secret', 'sample'] as const;
const rehearsal = ['retry-test', 'pull', 'test', 'check', 'consent', 'ready'] as const;

interface Actions {
  readonly partner: readonly LinkAction['partner'][];
  /** The partner's system, whose events are examined. */
  readonly sender: readonly 'show'[];
  readonly operator: readonly LinkAction['operator'][];
}

export interface LinkAction {
  readonly partner: (typeof page | typeof push | typeof rehearsal)[number];
  readonly sender: 'show';
  readonly operator: 'answer' | 'approve' | 'revoke';
}

const before: Actions = {
  partner: [...page, ...push, ...rehearsal],
  sender: ['show'],
  operator: ['answer', 'approve', 'revoke'],
};

/** Whatever is not here is refused. A live brand's connection and answers are the operator's. */
const allowed: Readonly<Record<LinkState, Actions>> = {
  preparing: before,
  ready: before,
  live: { partner: [...page, ...push], sender: [], operator: ['answer', 'revoke'] },
  revoked: { partner: [], sender: [], operator: [] },
  expired: { partner: [], sender: [], operator: ['revoke'] },
};

interface LinkTimes {
  readonly revoked_at: Date | null;
  /** By the database's clock. */
  readonly is_expired: boolean;
  readonly live_at: Date | null;
  readonly ready_at: Date | null;
}

export function stateOf({ revoked_at, is_expired, live_at, ready_at }: LinkTimes): LinkState {
  if (revoked_at !== null) return 'revoked';
  if (is_expired) return 'expired';
  if (live_at !== null) return 'live';
  return ready_at === null ? 'preparing' : 'ready';
}

/** Why the actor may not do this now; undefined if it may. */
export function linkRefusal<Actor extends keyof LinkAction>(
  link: LinkTimes,
  actor: Actor,
  action: LinkAction[Actor],
): 'live' | 'revoked' | 'expired' | undefined {
  const state = stateOf(link);
  const actions: readonly string[] = allowed[state][actor];
  if (actions.includes(action)) return undefined;
  if (state === 'preparing' || state === 'ready') throw new TypeError(`nobody allows ${actor} to ${action}`);
  return state;
}
