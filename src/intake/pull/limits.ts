import type { Limits, PullPorts } from './ports.ts';

const usual: Limits = {
  // At 200 rows a page, 400,000 reservations in one window of at most a week.
  pages: 2_000,
  emptyPages: 100,
  parkMs: 30_000,
  waitMs: 6 * 3_600_000,
  leaseMs: 60_000,
  cooldownMs: 60_000,
};

export function limitsOf(ports: Pick<PullPorts, 'limits'>): Limits {
  return { ...usual, ...ports.limits };
}
