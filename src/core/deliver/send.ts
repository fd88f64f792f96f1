import type { Clock, Timers } from '../../kit/clock.ts';
import { errorName } from '../../kit/log.ts';
import type { Span, Tracer } from '../../kit/trace.ts';
import { type DeliverLimits, type Destination, lostLease, type Outcome } from './destination.ts';
import type { Delivery } from './message.ts';
import type { Claimed, LaneKey } from './ports.ts';

export interface Sendable {
  readonly delivery: Delivery;
  readonly triesUsed: number;
}

export interface SendPorts {
  readonly deadlineMs: number;
  readonly batch: number;
  readonly scheduleMs: readonly number[];
  /** Called before every call but the first, and within a long one. Returns false if a lease was lost; then nothing more is sent. */
  readonly extendLease: () => Promise<boolean>;
  /** Aborted when this process cannot wait any longer. */
  readonly stopping: AbortSignal;
  readonly leaseLeftMs: () => number;
  readonly clock: Clock & Timers;
  readonly traceparent?: string | undefined;
}

/** The outcome of a delivery; `stopped` if this process shut down before an answer came. */
export type SendOutcome = Outcome | 'stopped';

/**
 * Sends a batch and returns an outcome for each delivery. If the destination gives one answer for the whole batch, or for a part of
 * it, that part is halved until the bad record is alone. A refusal is halved at once. A failure that may pass is halved only when it
 * repeats, and only while the failures look like one bad record and not like a destination that is down.
 */
export async function send(
  destination: Destination,
  items: readonly Sendable[],
  ports: SendPorts,
): Promise<readonly SendOutcome[]> {
  let failuresInRow = 0;
  const mostFailures = Math.ceil(Math.log2(items.length + 1)) + 2;

  async function attempt(part: readonly Sendable[]): Promise<readonly SendOutcome[]> {
    const outcomes = await callOnce(destination, part, ports);
    if (outcomes === 'stopped') return part.map(() => 'stopped');
    const failed = outcomes.every(({ kind }) => kind === 'retry' || kind === 'dead');
    failuresInRow = failed ? failuresInRow + 1 : 0;
    const undecided = part.filter((_, i) => isUndecided(outcomes[i]));
    if (part.length === 1 || undecided.length === 0) return outcomes;
    const shared = outcomes.filter(isUndecided);
    const mayPass = shared.some((outcome) => outcome.kind === 'retry');
    if (mayPass && (failuresInRow >= mostFailures || !worthSplitting(undecided, shared))) return outcomes;
    const middle = part.length >> 1;
    // If some deliveries have their own answer, the rest is already a smaller part.
    const smaller = undecided.length < part.length ? [undecided] : [part.slice(0, middle), part.slice(middle)];
    const again: SendOutcome[] = [];
    for (const some of smaller) {
      const earlier = shared.slice(again.length, again.length + some.length);
      const goOn = !(mayPass && failuresInRow >= mostFailures) && (await ports.extendLease());
      if (!goOn) again.push(...earlier.map(notSentAgain));
      else again.push(...(mayPass ? (await attempt(some.map(inDoubt))).map(stillInDoubt) : await attempt(some)));
    }
    return outcomes.map((outcome) => (isUndecided(outcome) ? (again.shift() ?? outcome) : outcome));
  }

  function worthSplitting(part: readonly Sendable[], outcomes: readonly Outcome[]): boolean {
    const last = part.some(({ triesUsed }) => isLastTry(triesUsed, ports.scheduleMs));
    const again = last || part.some(({ triesUsed }) => triesUsed > 0);
    return outcomes.every((outcome) => {
      if (outcome.kind !== 'retry' || outcome.free || outcome.code === 'deliver.unreachable') return false;
      // A timeout costs the whole deadline, so it is only split when the next failure would be a dead letter.
      return outcome.code === 'deliver.timeout' ? last : again;
    });
  }

  return attempt(items);
}

/** A refusal of the whole batch says nothing about a part that was not sent alone, so that part is retried later. */
function notSentAgain(outcome: Outcome): Outcome {
  if (outcome.kind !== 'dead') return outcome;
  return { ...outcome, kind: 'retry', code: 'deliver.server_error', free: true };
}

const isUndecided = (outcome: Outcome | undefined): boolean =>
  (outcome?.kind === 'retry' || outcome?.kind === 'dead') && outcome.whole === true;

const inDoubt = (item: Sendable): Sendable => ({ ...item, delivery: { ...item.delivery, mayHaveArrived: true } });
const stillInDoubt = (sent: SendOutcome): SendOutcome =>
  sent !== 'stopped' && sent.kind === 'retry' ? { ...sent, mayHaveArrived: true } : sent;

/** A destination that misses its own deadline is cut off after this. */
const graceMs = 2_000;

async function callOnce(
  destination: Destination,
  items: readonly Sendable[],
  { deadlineMs, batch, stopping, clock, leaseLeftMs, extendLease, traceparent }: SendPorts,
): Promise<readonly Outcome[] | 'stopped'> {
  if (stopping.aborted) return 'stopped';
  const cut = new AbortController();
  const heldMs = leaseLeftMs();
  let [cancelTimer, startTimer] = [() => {}, () => {}];
  const late = new Promise<'late'>((resolve) => {
    startTimer = () => {
      cancelTimer();
      cancelTimer = clock.schedule(deadlineMs + graceMs, () => resolve('late'));
    };
  });
  const extend = async (): Promise<boolean> => {
    if (cut.signal.aborted) return false;
    startTimer();
    // Due when half of the time beyond a request's own is used up.
    return leaseLeftMs() >= (deadlineMs + heldMs) / 2 || extendLease();
  };
  const limits: DeliverLimits = { deadlineMs, batch, signal: cut.signal, leaseLeftMs, extend, traceparent };
  const lost = lostLease(limits, deadlineMs);
  if (lost !== undefined) return items.map(() => lost);
  startTimer();
  const startedAtMs = clock.uptimeMs();
  const tookMs = () => Math.round(clock.uptimeMs() - startedAtMs);
  let stop = (): void => {};
  const stopped = new Promise<'stopped'>((resolve) => {
    stop = () => resolve('stopped');
    stopping.addEventListener('abort', stop, { once: true });
  });
  const all = (outcome: Outcome): Outcome[] => items.map(() => ({ ...outcome, durationMs: tookMs() }));
  try {
    const answer = await Promise.race([
      destination.deliver(
        items.map(({ delivery }) => delivery),
        limits,
      ),
      late,
      stopped,
    ]);
    if (answer === 'stopped' || answer === 'late') cut.abort();
    if (answer === 'stopped') return answer;
    if (answer === 'late') {
      return all({
        kind: 'retry',
        code: 'deliver.timeout',
        message: `No answer within ${deadlineMs} ms.`,
        whole: true,
      });
    }
    const durationMs = tookMs();
    if (answer.length === items.length) return answer.map((outcome) => ({ durationMs, ...outcome }));
    const message = `${answer.length} outcomes for ${items.length} deliveries.`;
    return all({ kind: 'retry', code: 'deliver.broken', message, whole: true });
  } catch (error) {
    // Only the name: a message may quote guest data.
    const message = `The destination threw ${errorName(error)}.`;
    return all({ kind: 'retry', code: 'deliver.broken', message, whole: true });
  } finally {
    cancelTimer();
    stopping.removeEventListener('abort', stop);
  }
}

/** When a failed delivery is retried, and when it becomes a dead letter. Pure: chance is an argument. */

/** The longest wait that a destination can ask for at once. */
export const longestWaitMs = 24 * 3_600_000;

/** The shortest one: a destination that says "wait 0 seconds" is still busy. */
export const leastAskedMs = 1_000;

/** Waits are stretched by up to a quarter, so that records that failed together are not retried together. */
const stretch = 0.25;

/** The try of an outage does not count: the destination is away altogether. */
type FailedTry = Pick<Extract<Outcome, { kind: 'retry' }>, 'afterMs' | 'free'> & { readonly isOutage?: boolean };

/** `triesUsed` counts the failed tries before this one, of which the schedule allows one per entry; `chance` is in [0, 1). */
export function nextTry(
  { afterMs = 0, free = false, isOutage = false }: FailedTry,
  triesUsed: number,
  scheduleMs: readonly number[],
  chance: number,
) {
  const asked = Math.min(Math.max(afterMs, 0), longestWaitMs);
  const wait = (ms: number, used: number) => ({ kind: 'wait', delayMs: Math.round(ms), triesUsed: used }) as const;
  if (free) return wait(Math.max(asked, leastAskedMs) * (1 + (stretch / 5) * chance), triesUsed);
  // In an outage the circuit decides when to try again; the first delay only holds until it opens.
  const base = isOutage ? (scheduleMs[0] ?? leastAskedMs) : scheduleMs[triesUsed];
  if (base === undefined) return { kind: 'dead' } as const;
  return wait(Math.max(base * (1 + stretch * chance), asked), isOutage ? triesUsed : triesUsed + 1);
}

/** True when a failure of this try would end in a dead letter. */
export function isLastTry(triesUsed: number, scheduleMs: readonly number[]): boolean {
  return triesUsed >= scheduleMs.length;
}

/** A span for each record of a call, which continues the trace that made its version. */
export function spansOf(
  tracer: Tracer,
  { integration, destination }: LaneKey,
  records: readonly { readonly claimed: Claimed }[],
) {
  const spans = records.map(({ claimed: { type, version, triesUsed, change } }): Span => {
    const attributes = {
      'innbound.integration': integration,
      'innbound.destination': destination,
      'innbound.type': type,
      'innbound.version': version,
      'innbound.attempt': triesUsed + 1,
      'innbound.records': records.length,
    };
    return tracer.start('deliver', { kind: 'client', parent: change?.trace, attributes });
  });
  const traces = new Set(spans.map(({ traceparent }) => traceparent.slice(0, 35)));
  return {
    /** For the call: absent if its records belong to several traces. */
    traceparent: traces.size === 1 ? spans[0]?.traceparent : undefined,
    end(sent: readonly SendOutcome[]) {
      for (const [i, span] of spans.entries()) {
        const outcome = sent[i];
        if (outcome === undefined || outcome === 'stopped') span.end({ 'innbound.outcome': 'stopped' });
        else {
          const status = outcome.status === undefined ? {} : { 'http.response.status_code': outcome.status };
          const isFailed = outcome.kind === 'retry' || outcome.kind === 'dead';
          span.end({ 'innbound.outcome': outcome.kind, ...status }, isFailed ? outcome.code : undefined);
        }
      }
    },
  };
}
