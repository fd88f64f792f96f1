/**
 * Imported before the processes of the suite. A test file that shares its process gets this module instead of `node:test`: what stands at
 * the top of the file becomes a suite with its name. Otherwise Node runs the hooks of all files before the first test, and the services of
 * forty files run at once, until the last test has ended.
 */
import { registerHooks } from 'node:module';
import path from 'node:path';
import * as runner from 'node:test';
import { fileURLToPath } from 'node:url';

if (process.argv[1]?.endsWith('.test.mjs')) {
  registerHooks({
    resolve: (name, context, next) =>
      name === 'node:test' && context.parentURL?.endsWith('.ts') && context.parentURL !== import.meta.url
        ? { url: import.meta.url, shortCircuit: true }
        : next(name, context),
  });
}

/** By file; undefined once the suites are declared. */
let registered: Map<string, (() => void)[]> | undefined = new Map();

export const after = ofFile(runner.after);
export const before = ofFile(runner.before);
export const beforeEach = ofFile(runner.beforeEach);
export const describe = ofFile(runner.describe);
export const suite = ofFile(runner.suite);
export const test = ofFile(runner.test);
export const { mock } = runner;

/** Called after the files of a process have been loaded. */
export function declareSuites(): void {
  const files = registered ?? [];
  registered = undefined;
  for (const [file, calls] of files) {
    void runner.describe(file, () => {
      for (const call of calls) call();
    });
  }
}

function ofFile<Call extends (...args: never[]) => unknown>(call: Call): Call {
  const later = (...args: Parameters<Call>) => {
    const file = registered && loadedFile();
    if (registered === undefined || file === undefined) return call(...args);
    const calls = registered.get(file) ?? [];
    calls.push(() => call(...args));
    registered.set(file, calls);
    return undefined;
  };
  return later as Call;
}

/** None for what a module does once that several files import: that is of the process. */
function loadedFile(): string | undefined {
  const [, url] = /(file:\S+\.test\.ts):\d+:\d+/.exec(new Error().stack ?? '') ?? [];
  return url && path.relative(process.cwd(), fileURLToPath(url));
}
