import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Time and randomness are arguments on the path of the data, so that a failure can be repeated from a seed. */
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
const root = path.join(path.dirname(import.meta.dirname), 'src');

test('the path of the data uses the injected clock and randomness only', () => {
  const found = rooms.flatMap((room) =>
    readdirSync(path.join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => {
        const code = readFileSync(path.join(root, room, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        return [...code.matchAll(own)].map(([use]) => `${room}/${file}: ${use}`);
      }),
  );
  assert.deepEqual(found, []);
});
