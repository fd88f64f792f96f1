import cluster, { type Worker } from 'node:cluster';
import type { Clock, Timers } from './clock.ts';
import type { Log } from './log.ts';

/**
 * Several processes of one program behind one port. Each child runs the parent's command line; the parent holds the listening socket
 * and passes connections on in turn, so a child that ends refuses no connection. kit/parent-process.ts is the child's side.
 *
 *   starting ──▶ ready ──▶ ended ──(pause)──▶ starting
 *       │          └── reported a failure ──▶ all end
 *       └── failed: all end at the first start, or when a further attempt is pointless
 */
export interface ChildrenOptions<Job> {
  readonly count: number;
  /** What a child gets to know. `isFirst` for the very first one; the others start when it is ready. */
  readonly job: (number: number, isFirst: boolean) => Job;
  /** Whether a restarted child that failed with this report may succeed later. */
  readonly isPassing: (report: Report) => boolean;
  readonly clock: Pick<Clock & Timers, 'uptimeMs' | 'wait' | 'schedule'>;
  readonly log: Log;
}

/** Why a child ended, in the child's words; undefined if it could not say. */
export interface Report {
  readonly code?: string;
  readonly message: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface ChildFailure {
  readonly number: number;
  readonly report: Report | undefined;
  /** Exit code or signal. */
  readonly ended: string;
}

export interface Children {
  /** Resolves when all children are ready, with what the first one said. */
  readonly ready: Promise<string>;
  /** Resolves when the children cannot continue. */
  readonly failed: Promise<ChildFailure>;
  /** Sends SIGTERM to all and waits until they have ended. */
  stop(): Promise<void>;
}

export type FromChild =
  | { readonly kind: 'ready'; readonly said: string }
  | { readonly kind: 'failed'; readonly report: Report }
  | { readonly kind: 'ask'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: string; readonly text: string };

export type ToChild<Job> =
  | { readonly kind: 'job'; readonly job: Job }
  | { readonly kind: 'question'; readonly id: string }
  | { readonly kind: 'answers'; readonly id: number; readonly texts: readonly string[] };

/** A life of this length resets the pause. */
const calmMs = 60_000;
const firstPauseMs = 250;
const longestPauseMs = 30_000;
/** About a minute of attempts: as long as a failover of the database takes. */
const startsAtMost = 8;
const answerMs = 1_000;

interface Life {
  readonly wasReady: boolean;
  readonly tookMs: number;
  readonly report: Report | undefined;
  readonly ended: string;
}

export function startChildren<Job>(options: ChildrenOptions<Job>): Children {
  const { count, clock, log } = options;
  const stopping = new AbortController();
  const ready = Array.from({ length: count }, () => Promise.withResolvers<string>());
  const failed = Promise.withResolvers<ChildFailure>();
  const workers = new Map<number, Worker>();
  const answersOf = askers(workers, clock);

  const live = (number: number, isFirst: boolean): Promise<Life> =>
    new Promise((resolve) => {
      const bornAt = clock.uptimeMs();
      const worker = cluster.fork();
      const send = (message: ToChild<Job>) => sendTo(worker, message);
      let wasReady = false;
      let report: Report | undefined;
      workers.set(number, worker);
      worker.on('message', (message: FromChild) => {
        if (message.kind === 'failed') report = message.report;
        else if (message.kind === 'ask')
          void answersOf(number).then((texts) => send({ kind: 'answers', id: message.id, texts }));
        else if (message.kind === 'ready') {
          wasReady = true;
          ready[number - 1]?.resolve(message.said);
        }
      });
      worker.on('error', () => {});
      worker.once('exit', (code, signal) => {
        workers.delete(number);
        const ended = signal ?? `code ${code}`;
        resolve({ wasReady, tookMs: clock.uptimeMs() - bornAt, report, ended });
      });
      send({ kind: 'job', job: options.job(number, isFirst) });
    });

  const keep = async (number: number): Promise<void> => {
    let shortLives = 0;
    for (let lives = 0; !stopping.signal.aborted; lives++) {
      const life = await live(number, number === 1 && lives === 0);
      if (stopping.signal.aborted) return;
      shortLives = life.tookMs >= calmMs ? 1 : shortLives + 1;
      const { report, ended } = life;
      if (isOver(life, lives, shortLives)) return failed.resolve({ number, report, ended });
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (shortLives - 1));
      log.error(
        { process: number, ended, ...(report && { error: report.message }), restart_in_ms: pauseMs },
        'service: a process ended, restarting it',
      );
      await clock.wait(pauseMs, stopping.signal);
    }
  };
  /** A ready child that ends without a report crashed, and is restarted. One with a report decided that the service cannot continue. */
  const isOver = ({ wasReady, report }: Life, lives: number, shortLives: number): boolean => {
    if (wasReady) return report !== undefined;
    return lives === 0 || shortLives >= startsAtMost || (report !== undefined && !options.isPassing(report));
  };

  const kept = [keep(1)];
  void ready[0]?.promise.then(() => {
    for (let number = 2; number <= count && !stopping.signal.aborted; number++) kept.push(keep(number));
  });
  return {
    ready: Promise.all(ready.map(({ promise }) => promise)).then(([said = '']) => said),
    failed: failed.promise,
    stop: async () => {
      stopping.abort();
      for (const worker of workers.values()) worker.process.kill('SIGTERM');
      await Promise.all(kept);
    },
  };
}

/** Asks all children but one, and leaves out those that do not answer in time. */
function askers(workers: ReadonlyMap<number, Worker>, clock: Pick<Timers, 'schedule'>) {
  let asked = 0;
  const ask = (worker: Worker): Promise<string | undefined> =>
    new Promise((resolve) => {
      const id = `q${asked++}`;
      const done = (text?: string) => {
        cancel();
        worker.off('message', heard);
        resolve(text);
      };
      const heard = (message: FromChild) => {
        if (message.kind === 'answer' && message.id === id) done(message.text);
      };
      const cancel = clock.schedule(answerMs, done);
      worker.on('message', heard);
      sendTo(worker, { kind: 'question', id });
    });
  return async (except: number): Promise<string[]> => {
    const others = [...workers].filter(([number]) => number !== except).map(([, worker]) => ask(worker));
    return (await Promise.all(others)).filter((text) => text !== undefined);
  };
}

/** A child that is just ending cannot be reached; its exit is handled elsewhere. */
function sendTo(worker: Worker, message: ToChild<unknown>): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
