import path from 'node:path';

/** A reporter for node --test: the ten test files that took longest, by the sum of their tests. */

interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly file?: string;
    readonly name?: string;
    readonly nesting?: number;
    readonly details?: { readonly duration_ms?: number };
  };
}

const shown = 10;
const root = path.dirname(import.meta.dirname);

export default async function* slowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const byFile = new Map<string, number>();
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting !== 0 || data.file === undefined) continue;
    // A file that fails as a whole is reported as a test with the file's name.
    if (data.name === data.file) continue;
    const file = data.name?.endsWith('.test.ts') ? path.resolve(root, data.name) : data.file;
    byFile.set(file, (byFile.get(file) ?? 0) + (data.details?.duration_ms ?? 0));
  }
  if (byFile.size < 2) return;
  const slowest = [...byFile].sort(([, a], [, b]) => b - a).slice(0, shown);
  yield `\nSlowest test files (of ${byFile.size}):\n`;
  for (const [file, ms] of slowest) yield `${(ms / 1000).toFixed(1).padStart(7)} s  ${path.relative(root, file)}\n`;
}
