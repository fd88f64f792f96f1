import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { TextTasks } from './text-tasks.ts';

/** Runs a task in the worker thread. Throws operate.too_costly for a text that takes too long, operate.busy when too many wait. */
export async function offThread<Task extends keyof TextTasks>(
  { offload }: Pick<Runtime, 'offload'>,
  task: Task,
  input: Parameters<TextTasks[Task]>[0],
  moved?: readonly ArrayBuffer[],
): Promise<Awaited<ReturnType<TextTasks[Task]>>> {
  const result = await offload.run(task, input, moved);
  if (result.kind === 'done') return result.value as Awaited<ReturnType<TextTasks[Task]>>;
  switch (result.reason) {
    case 'timeout':
    case 'memory':
      throw new InnboundError('operate.too_costly', `The text could not be processed: ${result.message}.`);
    case 'busy':
    case 'closed':
      throw new InnboundError('operate.busy', `The text was not processed: ${result.message}.`);
    case 'crashed':
      throw new TypeError(`the task ${task} failed: ${result.message}`);
  }
}
