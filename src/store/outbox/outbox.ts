import type { DeliveryStore } from '../../deliver/ports.ts';
import type { Keyring } from '../../kit/crypto.ts';
import type { Pool } from '../db/pool.ts';
import { noteFailure, noteSignOfLife, releaseProbe, takeProbe } from './circuit.ts';
import { claim, extend, putBackIfCommitted } from './claim.ts';
import { countDue, nextDue, nextDueOfAll } from './due.ts';
import { noteWaitRequest, takeBudget } from './pace.ts';
import { settle } from './settle.ts';

/**
 * The outbox: one row per destination and record, an index on (integration, destination, due_at). A claim moves due_at to
 * the end of the lease and raises the fence. A settlement counts only while the fence is unchanged. The same index finds due
 * records and those that a dead node left behind.
 */
export function outboxStore(pool: Pool, keyring?: Keyring): DeliveryStore {
  return {
    nextDue: (lanes, bounds) => nextDue(pool, lanes, bounds),
    nextDueOfAll: (bounds) => nextDueOfAll(pool, bounds),
    countDue: (lane, limit) => countDue(pool, lane, limit),
    claim: (lane, limit, leaseMs, options = {}) => claim({ pool, keyring }, lane, limit, leaseMs, options),
    extend: (lane, claims, leaseMs) => extend(pool, lane, claims, leaseMs),
    putBack: async (lane, claims) => void (await extend(pool, lane, claims, 0, false)),
    putBackIfCommitted: (lane, claims, transaction) => putBackIfCommitted(pool, lane, claims, transaction),
    abandon: async (lane, claims) => void (await extend(pool, lane, claims, 0)),
    settle: (settlements, node) => settle(pool, settlements, node),
    takeBudget: (destination, wanted, rate) => takeBudget(pool, destination, wanted, rate),
    noteWaitRequest: (destination, request) => noteWaitRequest(pool, destination, request),
    noteFailure: (destination, failure, circuit) => noteFailure(pool, destination, failure, circuit),
    noteSignOfLife: (destination) => noteSignOfLife(pool, destination),
    takeProbe: (destination, leaseMs) => takeProbe(pool, destination, leaseMs),
    releaseProbe: (destination) => releaseProbe(pool, destination),
  };
}
