import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { innbound } from '../support/process.ts';

/** What an audit says of files: they have no order by record, and a version may be in them twice. */

let node: ApiNode;
before(async () => {
  node = await apiNode('', {
    'integrations/grand.yaml': `integration: grand\nconnector: hotel\nbrand_id: LIS01\ntimezone: UTC\npush: { enabled: true }\ndeliver: [lake, columns]\n`,
    'destinations/columns.yaml':
      'destination: columns\ntype: files\npath: columns\nformat: parquet\nreceives: [reservation, guest]\n',
  });
  const rooms = [{ room_type: 'DBL', start_date: '2026-12-01', end_date: '2026-12-04', adults: 2, children: 0 }];
  const charges = [{ code: 'ROOM', amount: 310.55, quantity: 2 }];
  await node.take('grand', ...['R1', 'R2', 'R3', 'R4', 'R5'].map((id) => reservation(id, { rooms, charges })));
  await drain();
  await node.take('grand', reservation('R2', { rooms, charges, status: 'cancelled' }));
  await drain();
});
after(() => node.stop());

const drain = async () => {
  for (let i = 0; i < 2; i++) await drainOnce(await deliverPorts(node.runtime));
};
const audit = async (destination: string, ...more: string[]) => {
  const args = [
    'audit',
    destination,
    '--workspace',
    node.runtime.workspaceDir,
    '--json',
    '--integration',
    'grand',
    ...more,
  ];
  const ran = await innbound(args, { env: node.env });
  const lines = ran.json();
  const differences = lines
    .slice(0, -1)
    .map(({ id, kind, paths, reason }) => `${id} ${kind} ${paths ?? reason ?? ''}`.trim());
  return { code: ran.code, differences, result: lines.at(-1) ?? {}, stderr: ran.stderr };
};
const out = () => path.join(node.runtime.workspaceDir, 'out');
const files = async (folder = out()) =>
  (await readdir(folder, { recursive: true }).catch(() => []))
    .filter((name) => /\.(ndjson|parquet)$/.test(name))
    .map((name) => path.join(folder, name));
/** Edits the lines of all files, as somebody does by hand. */
async function edit(change: (line: string) => string | undefined): Promise<void> {
  for (const file of await files()) {
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    await writeFile(file, `${lines.flatMap((line) => change(line) ?? []).join('\n')}\n`);
  }
}

for (const destination of ['lake', 'columns']) {
  test(`${destination}: everything that was written is equal`, async () => {
    const { code, differences, result, stderr } = await audit(destination);
    assert.deepEqual([differences, code, result.complete], [[], 0, true], stderr);
    assert.equal(result.equal, 10, 'five bookings, five guests');
    const { rows } = await node.runtime.pool.query('select id from held_rows');
    assert.deepEqual(rows, [], 'hashes of guests are kept no longer than the audit needs them');
  });
}

test('lines that were changed, removed and added are named, and repaired by newer lines', async () => {
  await edit((line) => {
    const { type, data, version } = JSON.parse(line) as { type: string; data: { id: string }; version: number };
    if (type !== 'reservation') return line;
    if (data.id === 'R1') return line.replace('"first_name":"Ana"', '"first_name":"Eva"');
    if (data.id === 'R2' && version === 2) return undefined;
    if (data.id === 'R3') return undefined;
    if (data.id === 'R4') return `${line}\n${line}\n${line.replaceAll('R4', 'R9')}`;
    return line;
  });
  const broken = await audit('lake');
  assert.deepEqual(broken.differences.toSorted(), [
    'R1 changed guests[0].first_name',
    'R2 behind',
    'R3 missing',
    'R9 only_there not_ours',
  ]);
  assert.equal(broken.code, 1);
  await audit('lake', '--repair');
  assert.deepEqual((await audit('lake')).differences, ['R9 only_there not_ours']);
});

test('a line that cannot be read makes the audit incomplete', async () => {
  const [file = ''] = await files();
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('{', '{{'));
  const { code, result } = await audit('lake');
  assert.deepEqual([code, result.complete], [1, false]);
  assert.match(String(result.reason), /is not as it was written/);
  await writeFile(file, text);
  const folder = path.join(out(), 'date=2026-01-01', 'brand=OTHER1');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'changes.ndjson'), '{{');
  assert.equal(
    (await audit('lake')).result.reason,
    'The file date=2026-01-01/brand=…/changes.ndjson is not as it was written.',
    'another brand is not named',
  );
  await rm(folder, { recursive: true });
});

test('Parquet files that vanished are missing', async () => {
  for (const file of await files(path.join(node.runtime.workspaceDir, 'columns'))) await rm(file);
  const { result, code } = await audit('columns');
  assert.deepEqual([result.missing, result.equal, code], [10, 0, 1]);
});
