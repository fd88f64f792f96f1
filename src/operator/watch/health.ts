import { type Condition, type HealthState, healthStates } from './facts.ts';

/** One brand: the worst of the conditions that concern it. */
export interface Health {
  readonly state: HealthState;
  /** The worst first. */
  readonly findings: readonly Finding[];
}

export type Finding = Pick<Condition, 'subject' | 'state' | 'message' | 'action'> & {
  readonly kind: string;
  /** The cause, as in the open incidents. */
  readonly cause: string;
};

const rank = ({ state }: { readonly state: HealthState }): number => healthStates.indexOf(state);

/** All facts about these are read for a brand's health: if it shows none of the kind, the cause is gone. */
const readNow: ReadonlySet<string> = new Set(['auth_failed', 'breaker_open', 'run_failed', 'run_incomplete']);

const over = (one: Finding): Finding => ({
  ...one,
  state: 'attention',
  message: `${one.message} The cause is gone; a running service ends the alert.`,
});

/**
 * `stored` are the conditions of the last evaluation of all brands: they count where the facts read now say nothing of their kind, so no
 * brand with an open alert is healthy.
 */
export function healthFrom(now: readonly Finding[], stored: readonly Finding[]): Health {
  const known = new Set(now.map(({ kind }) => kind));
  const others = stored.filter(({ kind }) => !known.has(kind)).map((one) => (readNow.has(one.kind) ? over(one) : one));
  const findings = [...now, ...others].toSorted((a, b) => rank(b) - rank(a));
  return { state: findings[0]?.state ?? 'healthy', findings };
}

/** One destination: the worst of the conditions about it, of its brands. Until it has accepted something, nothing is known of it. */
export function destinationState(
  name: string,
  { paused, held, delivered }: { readonly paused: boolean; readonly held: number; readonly delivered: boolean },
  brands: readonly Health[],
): HealthState {
  if (paused) return 'paused';
  if (brands.length === 0) return 'new';
  const own = brands.flatMap(({ findings }) =>
    findings.filter(({ kind, cause }) => cause === `destination:${name}` || kind === 'role_missing'),
  );
  // A lane that is in preview does not pause the others.
  const working = own.filter(({ kind }) => kind !== 'deliveries_paused');
  if (own.length - working.length === brands.length) return 'paused';
  const worst = healthStates[Math.max(...working.map(rank), 0)] ?? 'healthy';
  if (worst !== 'healthy') return worst;
  return held > 0 ? 'attention' : delivered ? 'healthy' : 'new';
}
