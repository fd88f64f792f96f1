import { parentPort } from 'node:worker_threads';

/** The worker's side of an Offload: runs the task that it is sent, by name. Input and result are plain data. */
export function serveTasks(tasks: ReadonlyMap<string, (input: never) => unknown>): void {
  const port = parentPort;
  if (port === null) throw new TypeError('serveTasks is for a worker thread');
  port.on('message', async ({ task, input }: { task: string; input: unknown }) => {
    try {
      const run = tasks.get(task);
      if (run === undefined) throw new TypeError(`there is no task ${task}`);
      port.postMessage({ value: await run(input as never) });
    } catch (error) {
      // The name alone: a message may quote the text that was sent.
      port.postMessage({ error: error instanceof Error ? error.name : 'unknown error' });
    }
  });
  port.postMessage({ ready: true });
}
