import { errorName } from '../../kit/log.ts';
import { destinationCircuit, type FailedCall } from '../outbound/circuit.ts';
import { Lease, type Leased } from './claiming.ts';
import type { Destination, Outcome } from './destination.ts';
import type { Delivery } from './message.ts';
import type { Claimed, DeliverPorts, DestinationConfig, Lane, LaneKey, Settlement, WaitRequest } from './ports.ts';
import { type Leaves, type Selected, select } from './select.ts';
import { leastAskedMs, nextTry, type Sendable, send, spansOf } from './send.ts';
import type { Settler } from './settle.ts';

export type Counts = Record<Settlement['result']['kind'], number>;

export interface BatchContext {
  readonly ports: DeliverPorts;
  readonly config: DestinationConfig;
  readonly destination: Destination;
  readonly settler: Settler;
  readonly leaseMs: number;
  /** Aborted when the node cannot wait any longer. */
  readonly stopping: AbortSignal;
  /** Called when the destination has answered for the whole batch. */
  readonly onAnswered: () => void;
  /** Called when the destination asked to wait or its circuit opened, after that is stored. */
  readonly onWaitAsked: () => Promise<void>;
}

interface ClaimedSendable extends Sendable {
  readonly claimed: Claimed;
  readonly leaves: Leaves | undefined;
}

/** One leased batch, from selection to settlement. */
export async function deliverBatch(context: BatchContext, leased: Leased): Promise<Counts> {
  const { ports, config, settler } = context;
  const { store, clock, log } = ports;
  const startedAtMs = clock.uptimeMs();
  const key: LaneKey = { integration: leased.lane.integration, destination: config.name };
  const { sendables, settlements } = choose(leased.lane, key, leased.claims, ports.epoch());
  const { answered, abandoned, lease } = await sendLeased(context, key, leased, sendables);
  const health = await noteHealth(context, answered);
  for (const { claimed, outcome, leaves } of answered) {
    const isOutage = health === 'unreachable' ? !claimed.interrupted : health !== 'fine';
    const terms = { leaves, scheduleMs: config.scheduleMs, chance: ports.chance(), isOutage };
    settlements.push(settlementFor(key, claimed, outcome, terms));
  }
  const waitRequest = waitRequestOf(answered);
  // After a wait request the store decides what the next call may do, so the slot stays taken until it is written.
  const mustWait = waitRequest !== undefined || health === 'circuit_open';
  if (!mustWait) context.onAnswered();
  if (abandoned.length > 0) await store.extend(key, abandoned, 0).catch(() => {});
  await settler.settle(settlements, lease);
  ports.settled?.(settlements);
  // After the settlement: a success in this batch clears earlier wait requests.
  if (waitRequest !== undefined) await store.noteWaitRequest(config.name, waitRequest).catch(() => {});
  if (mustWait) await context.onWaitAsked();
  const counts: Counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  for (const { result } of settlements) counts[result.kind] += 1;
  const codes = [...new Set(settlements.map(({ code }) => code).filter((code) => code !== undefined))];
  const line = { ...key, type: config.type, ...counts, codes, ms: Math.round(clock.uptimeMs() - startedAtMs) };
  if (counts.retry + counts.dead > 0) log.warn(line, 'deliver: batch with failures');
  else log.info(line, 'deliver: batch');
  return counts;
}

async function sendLeased(
  { ports, config, destination, leaseMs, stopping }: BatchContext,
  key: LaneKey,
  { claims, lease }: Leased,
  sendables: readonly ClaimedSendable[],
) {
  if (sendables.length === 0) return { answered: [], abandoned: [], lease };
  const { store, clock } = ports;
  /** As extended while the batch is sent. */
  let current = lease;
  const extendLease = async (): Promise<boolean> => {
    const extended = new Lease(clock, leaseMs);
    const held = await store.extend(key, claims, leaseMs).catch(() => 0);
    if (held === claims.length) current = extended;
    return held === claims.length;
  };
  const { timeoutMs: deadlineMs, batch, scheduleMs } = config;
  const leaseLeftMs = () => current.leftMs;
  const spans = ports.tracer && spansOf(ports.tracer, key, sendables);
  const { traceparent } = spans ?? {};
  const limits = { deadlineMs, batch, scheduleMs, extendLease, stopping, leaseLeftMs, clock, traceparent };
  const sent = await send(destination, sendables, limits);
  spans?.end(sent);
  const answered = sendables.flatMap(({ claimed, leaves }, i) => {
    const outcome = sent[i];
    const record = `${key.integration} ${claimed.type} ${claimed.id}`;
    return outcome === undefined || outcome === 'stopped' ? [] : [{ claimed, record, outcome, leaves }];
  });
  // Cut off by our own shutdown: they may have arrived. The next claim says so, and no try is used.
  const abandoned = sendables.filter((_, i) => sent[i] === 'stopped').map(({ claimed }) => claimed);
  return { answered, abandoned, lease: current };
}

/**
 * In an outage a failed call uses no tries. `unreachable`: the first call to fail, and nothing in it is to blame. It is free as well, but
 * once for each record: one at which the connection always breaks, while others pass, must not be tried for ever.
 */
type Health = 'fine' | 'unreachable' | 'outage' | 'circuit_open';

async function noteHealth({ ports, config }: BatchContext, outcomes: readonly RecordOutcome[]): Promise<Health> {
  const { store, circuit = destinationCircuit, log } = ports;
  const health = healthOf(outcomes);
  if (health?.kind === 'failed') {
    const after = await store.noteFailure(config.name, health, circuit).catch(() => undefined);
    if (after === undefined) return 'outage';
    if (after.state === 'closed' && after.failures > 1) return after.away ? 'outage' : 'fine';
    if (after.state === 'closed') return health.unreachable ? 'unreachable' : 'fine';
    log.warn({ destination: config.name, reason: health.message }, 'deliver: circuit open, only probes are sent');
    return 'circuit_open';
  }
  // The settlement of a success closes the circuit; a refusal must do so here.
  const isAccepted = outcomes.some(({ outcome }) => outcome.kind === 'delivered');
  if (health?.kind === 'there' && !isAccepted) await store.noteAnswer(config.name).catch(() => {});
  return 'fine';
}

function choose(
  lane: Lane,
  key: LaneKey,
  claims: readonly Claimed[],
  epoch: number,
): { sendables: ClaimedSendable[]; settlements: Settlement[] } {
  const settlements: Settlement[] = [];
  const sendables: ClaimedSendable[] = [];
  for (const claimed of claims) {
    const chosen = selectSafely(lane, claimed, epoch);
    if (chosen.kind === 'send') {
      const delivery = deliveryOf(lane, claimed, chosen);
      sendables.push({ claimed, delivery, triesUsed: claimed.triesUsed, leaves: chosen.leaves });
    } else {
      const result = { kind: chosen.kind === 'skip' ? ('skipped' as const) : ('dead' as const) };
      settlements.push({ ...settlementOf(key, claimed), result, code: chosen.code, message: chosen.message });
    }
  }
  return { sendables, settlements };
}

export function deliveryOf(lane: Lane, claimed: Claimed, chosen: Selected & { kind: 'send' }): Delivery {
  return {
    message: chosen.message,
    changedAt: claimed.change?.at ?? 0,
    ...(claimed.change?.statedAt !== undefined && { statedAt: claimed.change.statedAt }),
    mayHaveArrived: claimed.interrupted || claimed.triesUsed > 0,
    byConsent: lane.destination.selection.consent !== undefined,
    ...(claimed.change?.erased && { erased: claimed.change.erased }),
    ...(chosen.onlyWithdrawals && { onlyWithdrawals: true }),
    ...chosen.compared,
  };
}

/** A version that cannot be read must not fail the rest of its batch. */
function selectSafely(lane: Lane, claimed: Claimed, epoch: number): Selected {
  try {
    return select(lane, claimed, epoch);
  } catch (error) {
    const message = `The version could not be read: ${errorName(error)}.`;
    return { kind: 'dead', code: 'deliver.broken', message };
  }
}

interface Terms extends Pick<DestinationConfig, 'scheduleMs'> {
  readonly leaves: Leaves | undefined;
  /** From 0 to 1, to spread the retries. */
  readonly chance: number;
  readonly isOutage: boolean;
}

function settlementFor(
  key: LaneKey,
  claimed: Claimed,
  outcome: Outcome,
  { leaves, scheduleMs, chance, isOutage }: Terms,
): Settlement {
  const base = {
    ...settlementOf(key, claimed),
    ...(outcome.status !== undefined && { status: outcome.status }),
    ...(outcome.durationMs !== undefined && { durationMs: outcome.durationMs }),
  };
  if (outcome.kind === 'delivered') return { ...base, ...(leaves && { code: leaves }), result: { kind: 'delivered' } };
  const { code, message, answer } = outcome;
  const reason = { code, message, ...(answer !== undefined && { answer }) };
  if (outcome.kind === 'skipped') return { ...base, ...reason, result: { kind: 'skipped' } };
  if (outcome.kind === 'dead') return { ...base, ...reason, result: { kind: 'dead' } };
  const next = nextTry({ ...outcome, isOutage }, claimed.triesUsed, scheduleMs, chance);
  if (next.kind === 'wait') {
    const { delayMs, triesUsed } = next;
    // Without a used try, only this mark says that the version may have arrived, now or before.
    const isInDoubt = isOutage || (triesUsed === 0 && (claimed.interrupted || outcome.mayHaveArrived));
    const result = { kind: 'retry' as const, delayMs, triesUsed, ...(isInDoubt && { mayHaveArrived: true }) };
    return { ...base, ...reason, result };
  }
  const last = `${claimed.triesUsed + 1} tries failed. The last answer: ${message}`;
  return { ...base, ...reason, code: 'deliver.tries_used_up', message: last, result: { kind: 'dead' } };
}

function settlementOf(
  key: LaneKey,
  { type, id, version, fence, triesUsed, change }: Claimed,
): Omit<Settlement, 'result'> {
  return { ...key, type, id, version, fence, attempt: triesUsed + 1, ...(change && { changedAt: change.at }) };
}

/**
 * While a destination is away (outbound/circuit.ts), only the first failed call uses a try of its records, unless it could not be reached
 * at all: an outage costs one try at most, however long it lasts. A record that fails while others pass, or all alone, uses its tries up as always. Each probe takes the
 * record that has been due for longest and puts it back behind the others, so one bad record cannot keep the circuit open.
 */
type CallHealth = { readonly kind: 'there' } | ({ readonly kind: 'failed' } & FailedCall);

/** What the outcomes of a call say about the destination; undefined where they say nothing. */
export function healthOf(outcomes: readonly RecordOutcome[]): CallHealth | undefined {
  const heard = outcomes.filter(({ outcome }) => outcome.kind !== 'skipped' && !isUnsent(outcome));
  const failures = heard.flatMap(({ record, outcome }) => (isFailure(outcome) ? [{ record, outcome }] : []));
  const [first] = failures;
  if (heard.length === 0) return undefined;
  if (first === undefined || failures.length < heard.length) return { kind: 'there' };
  // A 403 may be about a record: two of them are about the key.
  const unreachable = failures.every(({ outcome: { status = 401, code } }) => status === 401 && blameless.has(code));
  const refused = failures.every(({ outcome }) => outcome.code === 'deliver.auth_failed');
  const records = failures.map(({ record }) => record);
  return { kind: 'failed', message: first.outcome.message, unreachable, refused, records };
}

const blameless: ReadonlySet<string> = new Set([
  'deliver.unreachable',
  'deliver.auth_failed',
  'deliver.write_failed',
  'deliver.warehouse_mismatch',
  'deliver.bus_mismatch',
]);

/** Not sent because the lease was lost: that says nothing about the destination. */
const isUnsent = (outcome: Outcome): boolean => outcome.kind === 'retry' && outcome.code === 'deliver.lease_expired';

function isFailure(outcome: Outcome): outcome is Outcome & { kind: 'retry' } {
  if (outcome.kind !== 'retry' || outcome.free) return false;
  const { status, code } = outcome;
  if (status === undefined || code === 'deliver.web_page' || code === 'deliver.auth_failed') return true;
  return status >= 500 || status === 408 || status === 425;
}

interface RecordOutcome {
  readonly record: string;
  readonly outcome: Outcome;
}

/** The wait request in the outcomes of a call, in their order. One answer to a whole batch counts as one. */
export function waitRequestOf(outcomes: readonly RecordOutcome[]): WaitRequest | undefined {
  const lastSuccess = outcomes.findLastIndex(({ outcome }) => outcome.kind === 'delivered');
  const since = outcomes.slice(lastSuccess + 1).filter(({ outcome }) => waitAskedMs(outcome) > 0);
  if (since.length === 0) return undefined;
  const alone = since.filter(({ outcome }) => !('whole' in outcome && outcome.whole));
  const answers = alone.length + (alone.length < since.length ? 1 : 0);
  return {
    records: since.map(({ record }) => record),
    severalAnswers: answers > 1,
    waitMs: Math.max(...since.map(({ outcome }) => waitAskedMs(outcome))),
  };
}

/** How long the destination asked to wait without blaming the delivery; 0 if it did not. */
export function waitAskedMs(outcome: Outcome): number {
  if (outcome.kind !== 'retry' || !outcome.free || outcome.afterMs === undefined) return 0;
  return Math.max(outcome.afterMs, leastAskedMs);
}
