import { decodeRecord } from '../../../src/core/canonical/reservation.ts';
import type {
  Claimed,
  ClaimedByBrand,
  ClaimOptions,
  DeliveryStore,
  LaneKey,
  Settlement,
} from '../../../src/core/deliver/ports.ts';
import type { Link } from './link.ts';
import { noteAnswer, noteFailure, releaseProbe, remoteOf, takeCalls, takeProbe } from './remotes.ts';
import { healthyRemote, type OutboxRow, outboxKey, recordKey, type StoreModel } from './state.ts';

const keyOf = (destination: string) => `destination ${destination}`;

type Key = Pick<Claimed, 'type' | 'id' | 'fence'>;

/** Deliveries of consent-filtered destinations, which read earlier versions, are not modelled. */
export function outboxModel(model: StoreModel, link: Link): DeliveryStore {
  return {
    nextDue: (lanes, bounds) =>
      link.call('nextDue', () =>
        lanes.flatMap((lane) => {
          const from = model.now() - (bounds?.sinceMs ?? Number.POSITIVE_INFINITY);
          const to = model.now() + (bounds?.withinMs ?? Number.POSITIVE_INFINITY);
          const times = rowsOf(model, lane).map((row) => row.dueAt ?? Number.POSITIVE_INFINITY);
          const dueAt = Math.min(...times.filter((at) => at >= from && at <= to));
          if (dueAt === Number.POSITIVE_INFINITY) return [];
          const { state, pausedUntil, probeAt } = model.remotes.get(keyOf(lane.destination)) ?? healthyRemote;
          const at = Math.max(dueAt, pausedUntil, probeAt);
          const firstDueInMs = dueAt - model.now();
          return [{ ...lane, dueInMs: at - model.now(), firstDueInMs, isProbe: state !== 'closed' }];
        }),
      ),
    // The simulated brands are few enough to be listed.
    nextDueOfAll: () => Promise.reject(new TypeError('not modelled')),
    countDue: (lane, limit) =>
      link.call('countDue', () => Math.min(limit, rowsOf(model, lane).filter((row) => isDue(model, row)).length)),
    claim: (destination, integrations, mostEach, leaseMs, options) =>
      link.call('claim', () =>
        integrations.flatMap((integration) => claim(model, { integration, destination }, mostEach, leaseMs, options)),
      ),
    extend: (lane, claims, leaseMs) => link.call('extend', () => extend(model, lane, claims, leaseMs, true)),
    putBack: (lane, claims) => link.call('putBack', () => void extend(model, lane, claims, 0, false)),
    settle: (settlements) => link.call('settle', () => settle(model, settlements)),
    takeBudget: (destination, wanted, rate) =>
      link.call('takeBudget', () => takeCalls(model, keyOf(destination), rate, wanted)),
    noteWaitRequest: (destination, { records, severalAnswers, waitMs }) =>
      link.call('noteWaitRequest', () => {
        const remote = remoteOf(model, keyOf(destination));
        const isAnother = remote.toldToWait !== undefined && !records.includes(remote.toldToWait);
        const until = model.now() + waitMs;
        if (severalAnswers || isAnother) remote.pausedUntil = Math.max(remote.pausedUntil, until);
        remote.toldToWait = records[0];
      }),
    noteFailure: (destination, failure, settings) =>
      link.call('noteFailure', () => noteFailure(model, keyOf(destination), failure, settings)),
    noteAnswer: (destination) => link.call('noteAnswer', () => void noteAnswer(model, keyOf(destination))),
    takeProbe: (destination, leaseMs) => link.call('takeProbe', () => takeProbe(model, keyOf(destination), leaseMs)),
    releaseProbe: (destination) => link.call('releaseProbe', () => releaseProbe(model, keyOf(destination))),
  };
}

function rowsOf(model: StoreModel, { integration, destination }: LaneKey): OutboxRow[] {
  return [...model.outbox.values()].filter((row) => row.integration === integration && row.destination === destination);
}

const isDue = (model: StoreModel, { dueAt }: OutboxRow): boolean => dueAt !== undefined && dueAt <= model.now();

function claim(
  model: StoreModel,
  lane: LaneKey,
  limit: number,
  leaseMs: number,
  { isProbe = false, sinceMs }: ClaimOptions = {},
): ClaimedByBrand[] {
  const { destination, integration } = lane;
  const remote = model.remotes.get(keyOf(destination)) ?? healthyRemote;
  if (remote.pausedUntil > model.now() || (remote.state !== 'closed' && !isProbe)) return [];
  const due = rowsOf(model, lane)
    .filter((row) => isDue(model, row) && (row.dueAt ?? 0) >= model.now() - (sinceMs ?? Number.POSITIVE_INFINITY))
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
    .slice(0, limit);
  return due.map((row): ClaimedByBrand => {
    const fence = row.fence + 1;
    model.putOutbox({ ...row, dueAt: model.now() + leaseMs, fence, leased: true });
    const { id, nextVersion: version } = row;
    const change = model.changes.get(recordKey(integration, id))?.find((one) => one.version === version);
    return {
      integration,
      type: 'reservation',
      id,
      version,
      deliveredVersion: row.deliveredVersion,
      triesUsed: row.attempt,
      fence,
      interrupted: row.leased,
      ...(change && {
        change: {
          event: change.event,
          idempotencyKey: change.idempotencyKey,
          at: change.at,
          record: () => decodeRecord('reservation', change.text),
        },
      }),
    };
  });
}

function held(model: StoreModel, lane: LaneKey, { id, fence }: Pick<Key, 'id' | 'fence'>): OutboxRow | undefined {
  const { integration, destination } = lane;
  const row = model.outbox.get(outboxKey({ integration, destination, id }));
  return row?.fence === fence && row.leased ? row : undefined;
}

function extend(model: StoreModel, lane: LaneKey, claims: readonly Key[], leaseMs: number, leased: boolean): number {
  const rows = claims.flatMap((key) => held(model, lane, key) ?? []);
  for (const row of rows) model.putOutbox({ ...row, dueAt: model.now() + leaseMs, leased });
  return rows.length;
}

function settle(model: StoreModel, settlements: readonly Settlement[]): LaneKey[] {
  const more = new Map<string, LaneKey>();
  const recovered = new Set<string>();
  for (const one of settlements) {
    const { integration, destination, id, version, result, durationMs } = one;
    const row = held(model, one, one);
    if (row === undefined) continue;
    model.attempts.push({ integration, destination, id, version, outcome: result.kind });
    if (result.kind === 'retry') {
      const { delayMs, triesUsed, mayHaveArrived = false } = result;
      const dueAt = model.now() + delayMs;
      model.putOutbox({ ...row, attempt: triesUsed, leased: mayHaveArrived, fence: row.fence + 1, dueAt });
      continue;
    }
    if (result.kind === 'dead') {
      const leased = durationMs !== undefined;
      model.putOutbox({ ...row, dueAt: undefined, leased, fence: row.fence + 1, isHeld: true });
      continue;
    }
    const hasMore = row.nextVersion < row.lastVersion;
    const next = model.changes
      .get(recordKey(integration, id))
      ?.find((change) => change.version === row.nextVersion + 1);
    model.putOutbox({
      ...row,
      nextVersion: row.nextVersion + 1,
      deliveredVersion: result.kind === 'delivered' ? version : row.deliveredVersion,
      attempt: 0,
      leased: false,
      dueAt: hasMore ? (next?.at ?? model.now()) : undefined,
    });
    if (result.kind === 'delivered') {
      const remote = remoteOf(model, keyOf(destination));
      const wasTold = remote.toldToWait !== undefined;
      remote.toldToWait = undefined;
      if (noteAnswer(model, keyOf(destination)) || wasTold) recovered.add(destination);
    }
    if (hasMore || recovered.has(destination)) {
      more.set(`${integration} ${destination}`, { integration, destination });
    }
  }
  return [...more.values()];
}
