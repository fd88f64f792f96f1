import { moduleSuffix } from '../../kit/module-suffix.ts';
import type { RuntimeOptions } from '../../runtime/options.ts';
import { assembleRuntime, type Runtime } from '../../runtime/runtime.ts';
import { casesBrokenBy } from './mapping-cases.ts';

const textWorker = {
  script: new URL(`./text-worker${moduleSuffix}`, import.meta.url),
  deadlineMs: 10_000,
  perHolder: 8,
  memoryMb: 512,
};

export const openRuntime = (options: RuntimeOptions): Promise<Runtime> =>
  assembleRuntime(options, { worker: textWorker, casesBrokenBy });
