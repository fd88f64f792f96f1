import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { JsonObject } from '../../../src/terms.ts';
import { readCases } from '../../connectors/cases.ts';
import { innbound as command, type Ran } from '../../support/process.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innbound-suggest-'));
after(() => rmSync(dir, { recursive: true }));

async function innbound(...args: string[]): Promise<Ran> {
  const ran = await command(args, { env: { INNBOUND_WORKSPACE: dir } });
  if (ran.code !== 0) throw Object.assign(new Error(ran.stderr), ran);
  return ran;
}

const [golden] = readCases('reference')
  .filter(({ response }) => response !== undefined)
  .slice(-1);
const sample = path.join(dir, 'response.json');
writeFileSync(sample, JSON.stringify(golden?.response));

test('suggest prints a connector that validate accepts and map can use', async () => {
  const { stdout } = await innbound('suggest', '--sample', sample, '--name', 'acme-pms');
  mkdirSync(path.join(dir, 'connectors'), { recursive: true });
  writeFileSync(path.join(dir, 'connectors', 'acme-pms.yaml'), stdout);
  await innbound('validate', '--json');
  const { stdout: mapped } = await innbound('map', 'acme-pms', '--sample', sample, '--json');
  const ids = mapped
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);
  assert.deepEqual(
    ids,
    golden?.records.map(({ id }) => id),
  );
});

test('suggest --json is one object with connector, fields, unmapped and fill rates', async () => {
  const { stdout } = await innbound('suggest', '--sample', sample, '--json');
  const told = JSON.parse(stdout) as { connector: JsonObject; fields: JsonObject[]; unmapped: string[] };
  assert.deepEqual(Object.keys(told), ['connector', 'fields', 'unmapped', 'unknown', 'filled']);
  assert.deepEqual(Object.keys(told.fields[0] ?? {}), ['field', 'path', 'confidence', 'reason']);
});

test('valid records do not hide that nobody in them can be reached', async () => {
  const file = path.join(dir, 'unreachable.json');
  const person = { first_name: 'Ana', last_name: 'Reis', email: '', phone: '123' };
  const row = { check_in: '2026-05-01', check_out: '2026-05-03', status: 'confirmed', guests: [person] };
  writeFileSync(file, JSON.stringify({ reservations: [1, 2, 3].map((id) => ({ id: `R${id}`, ...row })) }));
  const { stderr, stdout } = await innbound('suggest', '--sample', file, '--name', 'unreachable');
  assert.match(stderr, /guests\.email 0 of 3/);
  assert.match(stderr, /guests\.phone 0 of 3/);
  mkdirSync(path.join(dir, 'connectors'), { recursive: true });
  writeFileSync(path.join(dir, 'connectors', 'unreachable.yaml'), stdout);
  const mapped = await innbound('map', 'unreachable', '--sample', file);
  assert.match(mapped.stderr, /guests\.email 0 of 3/);
});

test('statuses without words are named by suggest and by map, and map counts the dead letters', async () => {
  const file = path.join(dir, 'numbers.json');
  const row = { check_in: '2026-05-01', check_out: '2026-05-03', last_name: 'Reis' };
  const rows = [1, 1, 2].map((status, id) => ({ id: `R${id}`, ...row, status }));
  writeFileSync(file, JSON.stringify({ reservations: [...rows, { ...row, id: 'R9', status: 1, check_out: '?' }] }));
  const { stderr, stdout } = await innbound('suggest', '--sample', file, '--name', 'numbers');
  assert.match(stderr, /only the partner can explain: 1 \(3 records\), 2 \(1 record\)/);
  writeFileSync(path.join(dir, 'connectors', 'numbers.yaml'), stdout);
  const mapped = await command(['map', 'numbers', '--sample', file], { env: { INNBOUND_WORKSPACE: dir } });
  assert.equal(mapped.code, 1);
  assert.match(mapped.stderr, /values\.status does not list: 1 \(2 records\), 2 \(1 record\)/);
  assert.match(mapped.stderr, /4 records, 1 of them a dead letter/);
});

test('suggest says what is wrong with an invalid sample', async () => {
  const file = path.join(dir, 'none.json');
  writeFileSync(file, '{"error":"unauthorized"}');
  await assert.rejects(innbound('suggest', '--sample', file), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 1);
    assert.match(error.stderr, /No list in the sample/);
    return true;
  });
});
