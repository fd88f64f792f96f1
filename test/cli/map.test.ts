import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = path.join(import.meta.dirname, '../../src/main.ts');
const dir = mkdtempSync(path.join(tmpdir(), 'innbound-map-'));
after(() => rmSync(dir, { recursive: true }));

mkdirSync(path.join(dir, 'connectors'));
writeFileSync(path.join(dir, 'connectors', 'desk.yaml'), 'connector: desk\nmap: { check_in: from, check_out: to }\n');
const record = { id: 'R1', from: '2026-05-01T23:30:00Z', to: '2026-05-03T10:00:00Z', status: 'confirmed', vip: true };
const sample = path.join(dir, 'response.json');
writeFileSync(sample, JSON.stringify([record, { ...record, note: 'late' }]));

const map = (...args: string[]) =>
  run(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'map', 'desk', '--sample', sample, ...args], {
    cwd: dir,
  });

test('map warns of what it assumes about the property, and reports an id that is there twice', async () => {
  const { stdout, stderr } = await map('--json');
  assert.match(stderr, /without --integration, times are read in UTC \(--timezone\) and local phone numbers/);
  assert.match(stderr, /the id R1 is there 2 times/);
  assert.equal((JSON.parse(stdout.split('\n')[0] ?? '') as { check_in: string }).check_in, '2026-05-01');
  const there = await map('--json', '--timezone', 'Europe/Lisbon', '--country', 'PT');
  assert.doesNotMatch(there.stderr, /without --integration/);
  assert.equal((JSON.parse(there.stdout.split('\n')[0] ?? '') as { check_in: string }).check_in, '2026-05-02');
});

test('map sums up once what is not mapped', async () => {
  const { stdout } = await map('--timezone', 'UTC', '--country', 'PT');
  assert.deepEqual(stdout.split('not mapped:').length, 2);
  assert.match(stdout, /not mapped:\n {2}vip\n {2}note \(in 1 of 2 records\)/);
});
