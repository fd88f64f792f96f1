import type { DeliveryStore } from '../../deliver/ports.ts';
import type { Keyring } from '../../kit/crypto.ts';
import type { Pool } from '../db/pool.ts';
import {
  noteAnswer,
  noteFailure,
  noteWaitRequest,
  releaseProbe,
  destination as remote,
  takeCalls,
  takeProbe,
} from '../remotes.ts';
import { claim, extend } from './claim.ts';
import { countDue, nextDue, nextDueOfAll } from './due.ts';
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
    claim: (destination, integrations, mostEach, leaseMs, options = {}) =>
      claim({ pool, keyring }, destination, integrations, mostEach, leaseMs, options),
    extend: (lane, claims, leaseMs) => extend(pool, lane, claims, leaseMs),
    putBack: async (lane, claims) => void (await extend(pool, lane, claims, 0, false)),
    settle: (settlements, node) => settle(pool, settlements, node),
    takeBudget: (destination, wanted, rate) => takeCalls(pool, remote(destination), rate, wanted),
    noteWaitRequest: (destination, request) => noteWaitRequest(pool, remote(destination), request),
    noteFailure: (destination, failure, circuit) => noteFailure(pool, remote(destination), failure, circuit),
    noteAnswer: (destination) => noteAnswer(pool, remote(destination)),
    takeProbe: (destination, leaseMs) => takeProbe(pool, remote(destination), leaseMs),
    releaseProbe: (destination) => releaseProbe(pool, remote(destination)),
  };
}
