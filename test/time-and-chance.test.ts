import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/**
 * Time and randomness are arguments on the path of the data, so that a failure can be repeated from a seed. The list names the
 * places that still use the process's own. Numbers only ever fall, and no file is added.
 */
const own = /\b(?:Date\.now\(|Math\.random\b|performance\.now\(|new Date\(\)|setTimeout\(|setInterval\()/g;
const rooms = [
  'intake',
  'deliver',
  'watch',
  'privacy',
  'operations',
  'store',
  'shape',
  'normalize',
  'transform',
  'reconcile',
];
const debts: Readonly<Record<string, number>> = {
  'deliver/destinations/http/destination.ts': 2,
  'deliver/destinations/postgres/destination.ts': 2,
  'intake/pull/run-lease.ts': 1,
  'intake/push/group-commit.ts': 4,
  'intake/push/rejection-log.ts': 1,
  'operations/live-feed.ts': 1,
  'operations/tokens.ts': 1,
  'store/db/pool.ts': 1,
  'store/db/signals.ts': 4,
  'store/erasure/erasures.ts': 1,
  'store/runs/dry-runs.ts': 1,
  'store/runs/runs.ts': 1,
  'store/runs/schedules.ts': 1,
};

const root = path.join(path.dirname(import.meta.dirname), 'src');

test('the path of the data uses the injected clock and randomness, but for the listed places', () => {
  const found = rooms.flatMap((room) =>
    readdirSync(path.join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => {
        const code = readFileSync(path.join(root, room, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        return [`${room}/${file}`, [...code.matchAll(own)].length] as const;
      })
      .filter(([, count]) => count > 0),
  );
  const more = found.filter(([file, count]) => count > (Object.hasOwn(debts, file) ? (debts[file] ?? 0) : 0));
  assert.deepEqual(more, []);
});
