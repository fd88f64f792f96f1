import { serveTasks } from '../../kit/offload-worker.ts';
import { textTasks } from './text-tasks.ts';

/** The entry of the worker thread. */
serveTasks(new Map(Object.entries(textTasks)));
