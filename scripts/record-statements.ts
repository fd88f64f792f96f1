/**
 * Records the statements that the service sends, for test/store/db/previous-version.test.ts. Once per release, over tests that exercise it:
 *
 *   STATEMENTS=test/store/beside/0.2.0.json NODE_OPTIONS=--import=./scripts/record-statements.ts scripts/test test/deliver test/intake
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';

export interface Recorded {
  /** The newest migration that the version knows. */
  readonly migration: number;
  readonly statements: readonly string[];
}

const file = process.env.STATEMENTS;
if (file !== undefined) {
  const seen = new Set<string>();
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args;
    const text = typeof config === 'string' ? config : (config as { text?: unknown } | undefined)?.text;
    const isStatement = typeof text === 'string' && /^\s*(?:select|insert|update|delete|with)\b/i.test(text);
    // Partitions are of a day.
    if (isStatement && !/\bhistory_\d/.test(text)) seen.add(text);
    return send.apply(this, args);
  } as typeof pg.Client.prototype.query;
  process.on('exit', () => {
    const before = existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as Recorded)
      : { migration: 1, statements: [] };
    const statements = [...new Set([...before.statements, ...seen])].sort();
    writeFileSync(file, `${JSON.stringify({ ...before, statements }, null, 1)}\n`);
  });
}
