import type { DeliverLimits, Destination, Outcome } from './destination.ts';
import type { Delivery } from './message.ts';
import { isLastTry } from './retry.ts';

export interface Sendable {
  readonly delivery: Delivery;
  readonly triesUsed: number;
}

export interface SendPorts {
  readonly deadlineMs: number;
  readonly batch: number;
  readonly scheduleMs: readonly number[];
  /** Asked before every call but the first: lengthens the leases; false when one was lost, and then nothing more is sent. */
  readonly hold: () => Promise<boolean>;
  /** Aborted when this process cannot wait any longer. */
  readonly stopping: AbortSignal;
}

/** What became of a delivery; `stopped` when our own end came before an answer did. */
export type Sent = Outcome | 'stopped';

/**
 * Sends a batch and says what became of each delivery. When the destination only has an answer for the whole batch (or for a part
 * of it, where it takes several requests), that is halved until the culprit stands alone: at once for a refusal; for a failure
 * that time may heal, only once it came again, and no longer than the failures look like one culprit and not like a destination
 * that is down.
 */
export async function send(
  destination: Destination,
  items: readonly Sendable[],
  ports: SendPorts,
): Promise<readonly Sent[]> {
  let failuresInRow = 0;
  const patience = Math.ceil(Math.log2(items.length + 1)) + 2;

  async function attempt(part: readonly Sendable[]): Promise<readonly Sent[]> {
    const outcomes = await callOnce(destination, part, ports);
    if (outcomes === 'stopped') return part.map(() => 'stopped');
    const failed = outcomes.every(({ kind }) => kind === 'retry' || kind === 'dead');
    failuresInRow = failed ? failuresInRow + 1 : 0;
    const unclear = part.filter((_, i) => isWhole(outcomes[i]));
    if (part.length === 1 || unclear.length === 0) return outcomes;
    const theirs = outcomes.filter(isWhole);
    const healable = theirs.some((outcome) => outcome.kind === 'retry');
    if (healable && (failuresInRow >= patience || !worthSplitting(unclear, theirs))) return outcomes;
    const middle = part.length >> 1;
    // Where the others have an answer of their own, those without one are fewer already.
    const smaller = unclear.length < part.length ? [unclear] : [part.slice(0, middle), part.slice(middle)];
    const again: Sent[] = [];
    for (const some of smaller) {
      const given = theirs.slice(again.length, again.length + some.length);
      const goOn = !(healable && failuresInRow >= patience) && (await ports.hold());
      again.push(...(goOn ? await attempt(some) : given.map(notSentAgain)));
    }
    return outcomes.map((outcome) => (isWhole(outcome) ? (again.shift() ?? outcome) : outcome));
  }

  function worthSplitting(part: readonly Sendable[], outcomes: readonly Outcome[]): boolean {
    const last = part.some(({ triesUsed }) => isLastTry(triesUsed, ports.scheduleMs));
    const again = last || part.some(({ triesUsed }) => triesUsed > 0);
    return outcomes.every((outcome) => {
      if (outcome.kind !== 'retry' || outcome.free || outcome.code === 'deliver.unreachable') return false;
      // A timeout costs the whole deadline: it is only looked into when the next failure is a dead letter.
      return outcome.code === 'deliver.timeout' ? last : again;
    });
  }

  return attempt(items);
}

/** A refusal of the whole batch says nothing about a part that was not sent alone: it is tried again later. */
function notSentAgain(outcome: Outcome): Outcome {
  if (outcome.kind !== 'dead') return outcome;
  return { ...outcome, kind: 'retry', code: 'deliver.server_error', free: true };
}

function isWhole(outcome: Outcome | undefined): boolean {
  return (outcome?.kind === 'retry' || outcome?.kind === 'dead') && outcome.whole === true;
}

/** A destination that does not keep its own deadline is cut off shortly after it. */
const graceMs = 2_000;

async function callOnce(
  destination: Destination,
  items: readonly Sendable[],
  { deadlineMs, batch, stopping }: SendPorts,
): Promise<readonly Outcome[] | 'stopped'> {
  if (stopping.aborted) return 'stopped';
  const cut = new AbortController();
  const limits: DeliverLimits = { deadlineMs, batch, signal: cut.signal };
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), deadlineMs + graceMs);
  });
  let stop = (): void => {};
  const stopped = new Promise<'stopped'>((resolve) => {
    stop = () => resolve('stopped');
    stopping.addEventListener('abort', stop, { once: true });
  });
  const all = (outcome: Outcome): Outcome[] =>
    items.map(() => ({ ...outcome, durationMs: Math.round(performance.now() - startedAt) }));
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
    const durationMs = Math.round(performance.now() - startedAt);
    if (answer.length === items.length) return answer.map((outcome) => ({ durationMs, ...outcome }));
    const message = `${answer.length} outcomes for ${items.length} deliveries.`;
    return all({ kind: 'retry', code: 'deliver.broken', message, whole: true });
  } catch (error) {
    // The name only: a message may quote what was sent.
    const message = `The destination threw ${error instanceof Error ? error.name : typeof error}.`;
    return all({ kind: 'retry', code: 'deliver.broken', message, whole: true });
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', stop);
  }
}
