import { type Told, toldToWait } from './busy.ts';
import type { Destination, Outcome } from './destination.ts';
import type { Delivery } from './message.ts';
import type { Claimed, DeliverPorts, DestinationConfig, Lane, LaneKey, Settlement } from './ports.ts';
import { nextTry } from './retry.ts';
import { type Selected, select } from './select.ts';
import { send } from './send.ts';
import type { Settler } from './settler.ts';

export interface Counts {
  delivered: number;
  skipped: number;
  retry: number;
  dead: number;
}

export interface BatchContext {
  readonly ports: DeliverPorts;
  readonly config: DestinationConfig;
  readonly destination: Destination;
  readonly settler: Settler;
  readonly leaseMs: number;
  /** Aborted when the node cannot wait any longer. */
  readonly stopping: AbortSignal;
  /** Told when the destination has nothing more to do for this batch. */
  readonly answered: () => void;
  /** Told when the destination said to wait, once that is written down. */
  readonly toldToWait: () => Promise<void>;
}

interface Sendable {
  readonly claimed: Claimed;
  readonly delivery: Delivery;
  readonly triesUsed: number;
}

/** One claimed batch from choice to settlement. */
export async function deliverBatch(
  context: BatchContext,
  lane: Lane,
  claims: readonly Claimed[],
  leaseEndsAtMs: number,
): Promise<Counts> {
  const { ports, config, settler } = context;
  const { store, clock, log } = ports;
  const startedAt = performance.now();
  const key: LaneKey = { integration: lane.integration, destination: config.name };
  const { sendables, settlements } = choose(lane, key, claims);
  let endsAtMs = leaseEndsAtMs;
  let abandoned: Sendable[] = [];
  const told: Told[] = [];
  if (sendables.length > 0) {
    const hold = async (): Promise<boolean> => {
      const askedAtMs = clock.now();
      const held = await store.extend(key, claims, context.leaseMs).catch(() => 0);
      if (held === claims.length) endsAtMs = askedAtMs + context.leaseMs;
      return held === claims.length;
    };
    const { deadlineMs, batch, scheduleMs } = { deadlineMs: config.timeoutMs, ...config };
    const { stopping } = context;
    const sent = await send(context.destination, sendables, { deadlineMs, batch, scheduleMs, hold, stopping });
    // Cut off by our own end, nobody knows whether it arrived: that is for the next claim to say, and uses no try.
    abandoned = sendables.filter((_, i) => sent[i] === 'stopped');
    for (const [i, sendable] of sendables.entries()) {
      const outcome = sent[i];
      if (outcome === undefined || outcome === 'stopped') continue;
      settlements.push(settlementFor(key, sendable.claimed, outcome, config, ports.chance()));
      told.push({ record: `${key.integration} ${sendable.claimed.type} ${sendable.claimed.id}`, outcome });
    }
  }
  const waiting = toldToWait(told);
  // What the next call may do depends on who was told to wait: then the slot stays taken until that is written down.
  if (waiting === undefined) context.answered();
  if (abandoned.length > 0)
    await store
      .abandon(
        key,
        abandoned.map(({ claimed }) => claimed),
      )
      .catch(() => {});
  await settler.settle(settlements, endsAtMs);
  // After the settlement, which forgets who was told to wait before a success of this very batch.
  if (waiting !== undefined) {
    await store.toldToWait(config.name, waiting).catch(() => {});
    await context.toldToWait();
  }
  const counts: Counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
  for (const { result } of settlements) counts[result.kind] += 1;
  const codes = [...new Set(settlements.map(({ code }) => code).filter((code) => code !== undefined))];
  const line = { ...key, type: config.type, ...counts, codes, ms: Math.round(performance.now() - startedAt) };
  if (counts.retry + counts.dead > 0) log.warn(line, 'deliver: batch with failures');
  else log.info(line, 'deliver: batch');
  return counts;
}

function choose(
  lane: Lane,
  key: LaneKey,
  claims: readonly Claimed[],
): { sendables: Sendable[]; settlements: Settlement[] } {
  const settlements: Settlement[] = [];
  const sendables: Sendable[] = [];
  for (const claimed of claims) {
    const chosen = selectSafely(lane, claimed);
    if (chosen.kind === 'send') {
      const delivery: Delivery = {
        message: chosen.message,
        changedAt: claimed.change?.at ?? 0,
        mayHaveArrived: claimed.interrupted || claimed.triesUsed > 0,
        byConsent: lane.destination.selection.consent !== undefined,
        ...(claimed.change?.erased && { erased: claimed.change.erased }),
      };
      sendables.push({ claimed, delivery, triesUsed: claimed.triesUsed });
    } else {
      const result = { kind: chosen.kind === 'skip' ? ('skipped' as const) : ('dead' as const) };
      settlements.push({ ...settlementOf(key, claimed), result, code: chosen.code, message: chosen.message });
    }
  }
  return { sendables, settlements };
}

/** A version that cannot even be read must not take the others of its batch along. */
function selectSafely(lane: Lane, claimed: Claimed): Selected {
  try {
    return select(lane, claimed);
  } catch (error) {
    const message = `The version could not be read: ${error instanceof Error ? error.name : typeof error}.`;
    return { kind: 'dead', code: 'deliver.broken', message };
  }
}

function settlementFor(
  key: LaneKey,
  claimed: Claimed,
  outcome: Outcome,
  { scheduleMs }: DestinationConfig,
  chance: number,
): Settlement {
  const base = {
    ...settlementOf(key, claimed),
    ...(outcome.status !== undefined && { status: outcome.status }),
    ...(outcome.durationMs !== undefined && { durationMs: outcome.durationMs }),
  };
  if (outcome.kind === 'delivered') return { ...base, result: { kind: 'delivered' } };
  const { code, message, answer } = outcome;
  const told = { code, message, ...(answer !== undefined && { answer }) };
  if (outcome.kind === 'skipped') return { ...base, ...told, result: { kind: 'skipped' } };
  if (outcome.kind === 'dead') return { ...base, ...told, result: { kind: 'dead' } };
  const next = nextTry(outcome, claimed.triesUsed, scheduleMs, chance);
  if (next.kind === 'wait') {
    return { ...base, ...told, result: { kind: 'retry', delayMs: next.delayMs, triesUsed: next.triesUsed } };
  }
  const last = `${claimed.triesUsed + 1} tries failed, the last with ${code}: ${message}`;
  return { ...base, ...told, code: 'deliver.tries_used_up', message: last, result: { kind: 'dead' } };
}

function settlementOf(key: LaneKey, { type, id, version, fence, triesUsed }: Claimed): Omit<Settlement, 'result'> {
  return { ...key, type, id, version, fence, attempt: triesUsed + 1 };
}
