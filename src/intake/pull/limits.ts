import { partnerCircuit } from '../../outbound/circuit.ts';
import type { Limits, PullPorts } from './ports.ts';

const defaults: Limits = {
  // 400,000 reservations in one window of at most a week, at 200 rows a page.
  pages: 2_000,
  emptyPages: 100,
  parkMs: 30_000,
  waitMs: 6 * 3_600_000,
  leaseMs: 60_000,
  cooldownMs: partnerCircuit.firstMs,
};

export function limitsOf(ports: Pick<PullPorts, 'limits'>): Limits {
  return { ...defaults, ...ports.limits };
}
