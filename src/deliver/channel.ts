import type { Destination, Outcome } from './destination.ts';
import { LaneRing } from './lane-ring.ts';
import type { Delivery } from './message.ts';
import type { Claimed, DeliverPorts, DestinationConfig, Lane, Settlement } from './ports.ts';
import { nextTry } from './retry.ts';
import { select } from './select.ts';
import { send } from './send.ts';
import type { Settler } from './settler.ts';

/**
 * One destination on this node: so many calls side by side and no more, its brands in turn. Nothing here waits for another
 * destination, so that a slow or dead one delays only itself.
 *
 * A claim is made only when a call can start at once, and a call ends before its lease does: two calls for one record never
 * run at the same time, on any number of nodes. Only a process that is stopped for longer than the margin and then goes on
 * can break that; the version in the message tells the destination which one is newer.
 */
export interface Channel {
  readonly revision: string;
  /** These lanes have due work. */
  offer(lanes: readonly Lane[]): void;
  /** Nothing is being sent, and nothing that could be sent soon is known. */
  readonly isIdle: boolean;
  /** How long nothing will be sent: the destination asked for silence, its rate is used up, or it cannot be opened. */
  readonly quietMs: number;
  /** Claims nothing more and waits for what is under way. */
  close(): Promise<void>;
}

const standardMarginMs = 30_000;
const openAgainMs = 15_000;
const soonMs = 2_000;

export interface Counts {
  delivered: number;
  skipped: number;
  retry: number;
  dead: number;
}

interface Sendable {
  readonly claimed: Claimed;
  readonly delivery: Delivery;
  readonly triesUsed: number;
}

export function openChannel(
  ports: DeliverPorts,
  config: DestinationConfig,
  settler: Settler,
  onSettled: (counts: Counts) => void,
): Channel {
  const { store, clock, log, leaseMarginMs = standardMarginMs } = ports;
  const ring = new LaneRing();
  const underWay = new Set<Promise<void>>();
  let free = config.concurrency;
  let quietUntilMs = 0;
  let closed = false;
  let pumping: Promise<void> | undefined;
  let pumpAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let destination: Destination | undefined;

  function beQuiet(ms: number): void {
    quietUntilMs = Math.max(quietUntilMs, clock.now() + ms);
    clearTimeout(timer);
    if (!closed) timer = setTimeout(pump, quietUntilMs - clock.now() + 2);
  }

  function pump(): void {
    if (clock.now() < quietUntilMs) return; // the timer of beQuiet comes back
    if (pumping !== undefined) {
      pumpAgain = true;
      return;
    }
    pumping = fill()
      .catch((error: unknown) => {
        log.warn({ destination: config.name, error: nameOf(error) }, 'deliver: claiming failed, trying again');
        beQuiet(1_000);
      })
      .finally(() => {
        pumping = undefined;
        if (!pumpAgain) return;
        pumpAgain = false;
        pump();
      });
  }

  /** Starts calls until no slot is free or nothing is due. */
  async function fill(): Promise<void> {
    while (!closed && free > 0 && ring.size > 0 && clock.now() >= quietUntilMs) {
      const opened = await opening();
      if (opened === undefined) return;
      const lane = ring.next();
      if (lane === undefined) return;
      let calls = Math.max(1, Math.floor(free / ring.size));
      if (config.rate) {
        const budget = await store.takeBudget(config.name, calls, config.rate);
        calls = budget.granted;
        if (calls === 0) return beQuiet(budget.waitMs);
      }
      const leaseMs = config.timeoutMs + leaseMarginMs;
      const leaseEndsAtMs = clock.now() + leaseMs;
      const claims = await store.claim(
        { integration: lane.integration, destination: config.name },
        calls * config.batch,
        leaseMs,
        config.selection.consent !== undefined,
      );
      if (claims.length < calls * config.batch) ring.remove(lane);
      for (let start = 0; start < claims.length; start += config.batch) {
        call(opened, lane, claims.slice(start, start + config.batch), leaseEndsAtMs);
      }
      const unused = calls - Math.ceil(claims.length / config.batch);
      if (config.rate && unused > 0) await store.takeBudget(config.name, -unused, config.rate);
    }
  }

  async function opening(): Promise<Destination | undefined> {
    if (destination !== undefined) return destination;
    try {
      destination = await ports.open(config);
    } catch (error) {
      const code = (error as { code?: string }).code;
      log.error({ destination: config.name, error: nameOf(error), code }, 'deliver: destination cannot be opened');
      beQuiet(openAgainMs);
    }
    return destination;
  }

  function call(opened: Destination, lane: Lane, claims: readonly Claimed[], leaseEndsAtMs: number): void {
    free -= 1;
    const work = deliver(opened, lane, claims, leaseEndsAtMs).finally(() => {
      free += 1;
      underWay.delete(work);
      pump();
    });
    underWay.add(work);
  }

  async function deliver(
    opened: Destination,
    lane: Lane,
    claims: readonly Claimed[],
    leaseEndsAtMs: number,
  ): Promise<void> {
    const startedAt = performance.now();
    const key = { integration: lane.integration, destination: config.name };
    const settlements: Settlement[] = [];
    const sendables: Sendable[] = [];
    for (const claimed of claims) {
      const chosen = select(lane, claimed);
      const settled = (result: Settlement['result'], code: string, message: string): Settlement => ({
        ...settlementOf(key, claimed),
        result,
        code,
        message,
      });
      if (chosen.kind === 'skip') settlements.push(settled({ kind: 'skipped' }, chosen.code, chosen.reason));
      else if (chosen.kind === 'dead') settlements.push(settled({ kind: 'dead' }, chosen.code, chosen.message));
      else {
        const mayHaveArrived = claimed.interrupted || claimed.triesUsed > 0;
        const changedAt = claimed.change?.at ?? 0;
        sendables.push({
          claimed,
          triesUsed: claimed.triesUsed,
          delivery: {
            message: chosen.message,
            changedAt,
            mayHaveArrived,
            byConsent: config.selection.consent !== undefined,
            ...(claimed.change?.erased && { erased: claimed.change.erased }),
          },
        });
      }
    }
    let endsAtMs = leaseEndsAtMs;
    if (sendables.length > 0) {
      const hold = async (): Promise<boolean> => {
        const leaseMs = config.timeoutMs + leaseMarginMs;
        const askedAtMs = clock.now();
        const held = await store.extend(key, claims, leaseMs).catch(() => 0);
        if (held === claims.length) endsAtMs = askedAtMs + leaseMs;
        return held === claims.length;
      };
      const outcomes = await send(opened, sendables, {
        deadlineMs: config.timeoutMs,
        batch: config.batch,
        scheduleMs: config.scheduleMs,
        hold,
      });
      for (const [i, outcome] of outcomes.entries()) {
        const sendable = sendables[i];
        if (sendable) settlements.push(settlementFor(key, sendable.claimed, outcome));
      }
      const silence = Math.max(
        0,
        ...outcomes.map((one) => (one.kind === 'retry' && one.pause ? (one.afterMs ?? 0) : 0)),
      );
      if (silence > 0) {
        beQuiet(silence);
        await store.pause(config.name, silence).catch(() => {});
      }
    }
    await settler.settle(settlements, endsAtMs);
    const counts: Counts = { delivered: 0, skipped: 0, retry: 0, dead: 0 };
    for (const { result } of settlements) counts[result.kind] += 1;
    onSettled(counts);
    const codes = [...new Set(settlements.map(({ code }) => code).filter((code) => code !== undefined))];
    const line = { ...key, type: config.type, ...counts, codes, ms: Math.round(performance.now() - startedAt) };
    if (counts.retry + counts.dead > 0) log.warn(line, 'deliver: batch with failures');
    else log.info(line, 'deliver: batch');
  }

  function settlementFor(
    key: { integration: string; destination: string },
    claimed: Claimed,
    outcome: Outcome,
  ): Settlement {
    const base = {
      ...settlementOf(key, claimed),
      ...(outcome.status !== undefined && { status: outcome.status }),
      ...(outcome.durationMs !== undefined && { durationMs: outcome.durationMs }),
    };
    if (outcome.kind === 'delivered') return { ...base, result: { kind: 'delivered' } };
    const told = {
      code: outcome.code,
      message: outcome.message,
      ...(outcome.answer !== undefined && { answer: outcome.answer }),
    };
    if (outcome.kind === 'skipped') return { ...base, ...told, result: { kind: 'skipped' } };
    if (outcome.kind === 'dead') return { ...base, ...told, result: { kind: 'dead' } };
    const next = nextTry(outcome, claimed.triesUsed, config.scheduleMs, ports.chance());
    if (next.kind === 'dead') {
      const message = `${claimed.triesUsed + 1} tries failed, the last with ${outcome.code}: ${outcome.message}`;
      return { ...base, ...told, code: 'deliver.tries_used_up', message, result: { kind: 'dead' } };
    }
    return { ...base, ...told, result: { kind: 'retry', delayMs: next.delayMs, triesUsed: next.triesUsed } };
  }

  return {
    revision: config.revision,
    offer(lanes) {
      for (const lane of lanes) ring.add(lane);
      pump();
    },
    get isIdle() {
      const quiet = quietUntilMs - clock.now() > soonMs;
      return pumping === undefined && underWay.size === 0 && (ring.size === 0 || quiet);
    },
    get quietMs() {
      return Math.max(0, quietUntilMs - clock.now());
    },
    async close() {
      closed = true;
      ring.clear();
      clearTimeout(timer);
      await pumping;
      await Promise.all(underWay);
      await destination?.close().catch(() => {});
    },
  };
}

function settlementOf(key: { integration: string; destination: string }, claimed: Claimed): Omit<Settlement, 'result'> {
  const { type, id, version, fence, triesUsed } = claimed;
  return { ...key, type, id, version, fence, attempt: triesUsed + 1 };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
