import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { resendRecords } from '../../src/operator/operations/resend.ts';
import { applyWorkspace } from '../../src/runtime/in-force.ts';
import { readSoundDocuments } from '../../src/runtime/workspace-documents.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { config, lane, openStore, ports, scripted, reservation as stored, takeIn } from './support.ts';

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

/** The brand in force with these destinations; removed without a list. */
async function deliverTo(brand: string, destinations: readonly string[] | undefined): Promise<void> {
  const file = path.join(node.runtime.workspaceDir, 'integrations', `${brand}.yaml`);
  const text = await readFile(file, 'utf8');
  if (destinations === undefined) await rm(file);
  else await writeFile(file, text.replace(/deliver: .*/, `deliver: [${destinations.join(', ')}]`));
  await applyWorkspace(node.runtime, () => readSoundDocuments(node.runtime.workspaceDir), 'test');
  await node.runtime.refresh();
}

/** What the files say about a reservation, oldest first. */
async function rows(id: string): Promise<string[]> {
  await drainOnce(await deliverPorts(node.runtime));
  const out = path.join(node.runtime.workspaceDir, 'out');
  const names = (await readdir(out, { recursive: true })).filter((name) => name.endsWith('.ndjson'));
  const lines = (await Promise.all(names.map((name) => readFile(path.join(out, name), 'utf8')))).join('').split('\n');
  return lines.flatMap((line) => {
    const message = line === '' ? undefined : JSON.parse(line);
    if (message?.type !== 'reservation' || message.data.id !== id) return [];
    return [`${message.event} ${message.version} ${message.brand_id}${message.removed ? ' removed' : ''}`];
  });
}

test('the records of a brand that no longer delivers to a destination leave it, once, and come back', async () => {
  await node.take('grand', reservation('A1'), reservation('A2'));
  await node.take('other', reservation('A3'));
  assert.deepEqual(await rows('A1'), ['created 1 LIS01']);
  await rows('A3');
  await deliverTo('grand', []);
  const left = ['created 1 LIS01', 'removed 1 LIS01 removed'];
  assert.deepEqual([await rows('A1'), await rows('A2')], [left, left]);
  assert.deepEqual(await rows('A3'), ['created 1 OPO02'], 'the other brand stays');
  await node.take('grand', reservation('A1', { total_amount: 7 }));
  assert.deepEqual(await rows('A1'), left, 'nothing follows');
  await deliverTo('grand', ['lake']);
  await node.take('grand', reservation('A1', { total_amount: 8 }));
  assert.deepEqual((await rows('A1')).slice(2), ['updated 2 LIS01', 'updated 3 LIS01']);
  assert.deepEqual(await rows('A2'), left);
  await resendRecords(node.runtime, { destination: 'lake', integration: 'grand', id: 'A2' });
  assert.deepEqual((await rows('A2')).slice(2), ['created 1 LIS01']);
});

test('a version that is on its way while the brand leaves is followed by its removal', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(async () => {
    await pool.query('update outbox set leaving = true where not removed');
    return { kind: 'delivered' };
  });
  const made = ports(pool, [lane(config('crm'))], { crm: crm.destination });
  await takeIn(pool, [stored('r')], ['crm']);
  for (const _ of [1, 2, 3]) await drainOnce(made);
  assert.deepEqual(
    crm.messages().map(({ event, version, idempotency_key: key }) => [event, version, key.endsWith('-removed')]),
    [
      ['created', 1, false],
      ['removed', 1, true],
    ],
  );
});

test('so do those of an integration that is removed', async () => {
  await node.take('other', reservation('B1'));
  await rows('B1');
  // A version that waits is not sent any more.
  await node.take('other', reservation('B1', { total_amount: 9 }), reservation('B2'));
  await deliverTo('other', undefined);
  assert.deepEqual(await rows('B1'), ['created 1 OPO02', 'removed 2 OPO02 removed']);
  assert.deepEqual(await rows('B2'), []);
  assert.deepEqual(await rows('B1'), ['created 1 OPO02', 'removed 2 OPO02 removed']);
});
