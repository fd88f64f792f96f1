import { Worker } from 'node:worker_threads';
import { holder } from './holder.ts';

/**
 * Processes input from people in a separate thread, so that no input can block the main thread.
 * Tasks run one at a time in a worker, and holders take turns; a task that exceeds its deadline is ended by ending the worker. A failure is
 * a value.
 */
export interface Offload {
  /** `input` and the result are copied between threads: plain data only. What is `moved` is not copied, and empty afterwards. */
  run(task: string, input: unknown, moved?: readonly ArrayBuffer[]): Promise<Offloaded>;
  close(): Promise<void>;
}

export type Offloaded =
  | { readonly kind: 'done'; readonly value: unknown }
  | {
      readonly kind: 'failed';
      /** timeout: it took longer than `deadlineMs`; memory: it took more than `memoryMb`; busy: the holder's queue is full. */
      readonly reason: 'timeout' | 'memory' | 'busy' | 'crashed' | 'closed';
      readonly message: string;
    };

interface OffloadSettings {
  /** A module that calls serveTasks (offload-worker.ts). */
  readonly script: URL;
  readonly deadlineMs: number;
  /** Tasks of one holder that wait for the worker. */
  readonly perHolder: number;
  readonly memoryMb: number;
}

interface Task {
  readonly task: string;
  readonly input: unknown;
  readonly moved: readonly ArrayBuffer[];
  readonly settle: (result: Offloaded) => void;
}

/** For loading the modules on a busy machine. */
const startMs = 60_000;

export function openOffload(settings: OffloadSettings): Offload {
  /** Per holder. The first holder is next. */
  const waiting = new Map<string, Task[]>();
  let worker: Worker | undefined;
  let ready = false;
  let running: Task | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function settle(result: Offloaded): void {
    clearTimeout(timer);
    const task = running;
    running = undefined;
    task?.settle(result);
  }

  /** Ends the worker together with its task; the next task gets a new worker. */
  function discard(result: Offloaded): void {
    const old = worker;
    worker = undefined;
    ready = false;
    old?.removeAllListeners();
    // A worker that is being ended may still report an error, which ends the process unless somebody listens.
    old?.on('error', () => {});
    void old?.terminate();
    settle(result);
    next();
  }

  function failed(reason: Extract<Offloaded, { kind: 'failed' }>['reason'], message: string): Offloaded {
    return { kind: 'failed', reason, message };
  }

  function start(): Worker {
    const started = new Worker(settings.script, {
      resourceLimits: { maxOldGenerationSizeMb: settings.memoryMb },
      // The tests' runner and debuggers pass flags that are not for a worker.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdin: false,
    });
    started.on('message', (message: { ready: true } | { value: unknown } | { error: string }) => {
      if ('ready' in message) {
        ready = true;
        send();
        return;
      }
      settle('value' in message ? { kind: 'done', value: message.value } : failed('crashed', message.error));
      next();
    });
    started.on('error', (error: NodeJS.ErrnoException) => {
      const outOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      discard(
        outOfMemory
          ? failed('memory', `it took more than ${settings.memoryMb} MB`)
          : failed('crashed', `the worker ended: ${error.name}`),
      );
    });
    started.on('exit', () => discard(failed('crashed', 'the worker ended')));
    // An idle worker does not keep a process alive that has nothing else to do.
    started.unref();
    return started;
  }

  function send(): void {
    if (running === undefined || worker === undefined || !ready) return;
    clearTimeout(timer);
    timer = setTimeout(
      () => discard(failed('timeout', `it took longer than ${settings.deadlineMs} ms`)),
      settings.deadlineMs,
    );
    worker.postMessage({ task: running.task, input: running.input }, running.moved);
  }

  function next(): void {
    if (running !== undefined || closed) return;
    const [[name, tasks] = ['', []]] = waiting;
    running = tasks.shift();
    waiting.delete(name);
    if (tasks.length > 0) waiting.set(name, tasks);
    if (running === undefined) return;
    if (worker === undefined) {
      timer = setTimeout(() => discard(failed('timeout', `the worker did not start within ${startMs} ms`)), startMs);
      worker = start();
    } else send();
  }

  return {
    run: (task, input, moved = []) =>
      new Promise((resolve) => {
        if (closed) return resolve(failed('closed', 'the process is stopping'));
        const own = waiting.get(holder()) ?? [];
        if (own.length >= settings.perHolder)
          return resolve(failed('busy', `${own.length} others of yours are waiting`));
        own.push({ task, input, moved, settle: resolve });
        waiting.set(holder(), own);
        next();
      }),
    close: async () => {
      closed = true;
      for (const task of [...waiting.values()].flat()) task.settle(failed('closed', 'the process is stopping'));
      const old = worker;
      discard(failed('closed', 'the process is stopping'));
      await old?.terminate();
    },
  };
}
