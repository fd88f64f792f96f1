import { askLimits } from '../../../outbound/ask/limits.ts';
import type { Limits, PullPorts } from '../ports.ts';

const defaults: Limits = {
  ...askLimits,
  // 400,000 reservations in one window of at most a week, at 200 rows a page.
  pages: 2_000,
  emptyPages: 100,
  waitMs: 6 * 3_600_000,
  leaseMs: 60_000,
};

export function limitsOf(ports: Pick<PullPorts, 'limits'>): Limits {
  return { ...defaults, ...ports.limits };
}
