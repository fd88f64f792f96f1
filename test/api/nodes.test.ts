import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { documentText } from '../../src/core/store/documents/list.ts';
import type { InnboundError } from '../../src/errors.ts';
import { applyDocument, removeDocument } from '../../src/operator/operations/edit-documents.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import { liveNodes } from '../../src/operator/store/nodes.ts';
import { applyWorkspace, takeUpWorkspace } from '../../src/runtime/in-force.ts';
import { keepSeen } from '../../src/runtime/presence.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { readSoundDocuments } from '../../src/runtime/workspace-documents.ts';
import type { Json } from '../../src/terms.ts';
import { testDatabase } from '../support/database.ts';

/** Two nodes with their own files and one database: the database decides what is in force. */

const root = await mkdtemp(path.join(os.tmpdir(), 'innbound-nodes-'));
const [one, two] = [path.join(root, 'one'), path.join(root, 'two')];
const integration = (name: string, zone: string) =>
  `integration: ${name}\nconnector: hotel\nbrand_id: ${name.toUpperCase()}\ntimezone: ${zone}\npush: { enabled: true }\ndeliver: [lake]\n`;
const files = {
  'connectors/hotel.yaml': 'connector: hotel\nshape: { root_path: reservations }\n',
  'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\n',
  'integrations/grand.yaml': integration('grand', 'Europe/Lisbon'),
};
const write = async (dir: string, file: string, text: string) => {
  await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
  await writeFile(path.join(dir, file), text);
};
const env: NodeJS.ProcessEnv = { INNBOUND_KEY: 'ab'.repeat(32) };
const start = (workspaceDir: string): Promise<Runtime> =>
  openRuntime({ env, workspaceDir, purpose: 'service', describe: 'test', apply: 'always' });
/** The time zones in force, by brand, as a node that starts finds and leaves them. */
const zonesAfterStart = async (dir: string): Promise<Record<string, string>> => {
  const runtime = await start(dir);
  const zones = [...runtime.active().integrations.values()].map(({ integration: name, body }) => [name, body.timezone]);
  await runtime.close();
  return Object.fromEntries(zones);
};

let drop: () => Promise<void>;
before(async () => {
  const database = await testDatabase();
  drop = database.drop;
  env.DATABASE_URL = database.url;
  for (const dir of [one, two]) for (const [file, text] of Object.entries(files)) await write(dir, file, text);
});
after(async () => {
  await drop();
  await rm(root, { recursive: true, force: true });
});

test('a document applied on one node comes into force on the other, without a file there', async () => {
  const [first, second] = [await start(one), await start(two)];
  const brand = (name: string, timezone: string) =>
    ({ kind: 'integration', name, text: integration(name, timezone) }) as const;
  await applyDocument(first, brand('grand', 'Europe/Madrid'), 'ada');
  await applyDocument(first, brand('bay', 'Europe/Paris'), 'ada');
  await second.refresh();
  assert.equal(second.active().integrations.get('grand')?.body.timezone, 'Europe/Madrid');
  assert.ok(second.active().integrations.has('bay'));
  assert.equal(await readFile(path.join(one, 'integrations/bay.yaml'), 'utf8'), integration('bay', 'Europe/Paris'));
  // An edit at the other node neither undoes the first one nor removes its new brand.
  await applyDocument(second, brand('quay', 'Europe/Rome'), 'bo');
  assert.deepEqual([...second.active().integrations.keys()].sort(), ['bay', 'grand', 'quay']);
  assert.equal(second.active().integrations.get('grand')?.body.timezone, 'Europe/Madrid');
  await assert.rejects(removeDocument(second, 'destination', 'lake', 'bo'), ({ code, detail }: InnboundError) => {
    const mistakes = detail.mistakes as readonly { readonly file: string }[];
    return code === 'documents.invalid' && mistakes.some(({ file }) => file === 'integrations/bay.yaml');
  });
  await first.close();
  await second.close();
});

const inForce = { bay: 'Europe/Paris', grand: 'Europe/Madrid', quay: 'Europe/Rome' };

test('a node that stops during a heartbeat is no longer listed', async () => {
  const runtime = await start(one);
  const heartbeat = await keepSeen(runtime, 'all', 'http://127.0.0.1:1', 10);
  const { pool } = runtime;
  const blocker = await pool.connect();
  await blocker.query('begin');
  await blocker.query('lock table store_state in access exclusive mode');
  const waiting = `select from pg_locks where relation = 'store_state'::regclass and not granted`;
  while ((await pool.query(waiting)).rowCount === 0);
  const stopped = heartbeat.stop();
  const isListed = async () => (await liveNodes(pool)).some(({ node }) => node === runtime.node);
  // Stopping either waits for the heartbeat or has removed the row.
  await Promise.race([stopped, pool.query('select pg_sleep(0.2)')]);
  await blocker.query('commit');
  blocker.release();
  await stopped;
  while ((await pool.query(waiting)).rowCount);
  for (let looks = 0; looks < 20; looks++) assert.equal(await isListed(), false);
  await runtime.close();
});

test('a restart with an older file neither restores it nor removes a document without a file here', async () => {
  assert.equal(await readFile(path.join(two, 'integrations/grand.yaml'), 'utf8'), files['integrations/grand.yaml']);
  assert.deepEqual(await zonesAfterStart(two), inForce);
  assert.deepEqual(await zonesAfterStart(one), inForce);
});

test('a new folder with the old files, as in a new container, does not restore them either', async () => {
  const three = path.join(root, 'three');
  for (const [file, text] of Object.entries(files)) await write(three, file, text);
  assert.deepEqual(await zonesAfterStart(three), inForce);
});

test('an edited file is put in force at the start; one that was reverted to an old text waits for apply', async () => {
  await write(two, 'integrations/grand.yaml', integration('grand', 'Europe/Athens'));
  assert.deepEqual(await zonesAfterStart(two), { ...inForce, grand: 'Europe/Athens' });
  await write(two, 'integrations/grand.yaml', integration('grand', 'Europe/Madrid'));
  assert.deepEqual(await zonesAfterStart(two), { ...inForce, grand: 'Europe/Athens' });
});

test('a database of the workspace’s own follows its files: reverted texts, and files that were removed', async () => {
  await rm(path.join(two, 'integrations/quay.yaml'));
  const runtime = await start(two);
  const load = async () => ({ documents: await readSoundDocuments(two), leftOut: [] });
  const taken = await takeUpWorkspace(runtime, load, 'test', async () => [], true);
  assert.deepEqual(taken, { kind: 'taken', behind: [], leftOut: [] });
  await runtime.close();
  assert.deepEqual(await zonesAfterStart(one), { grand: 'Europe/Madrid' });
});

test('apply makes the database match the files, whatever was in force', async () => {
  const runtime = await start(one);
  const applied = await applyWorkspace(runtime, () => readSoundDocuments(one), 'apply');
  assert.ok(applied.some(({ name, change }) => name === 'bay' && change === 'new'));
  await runtime.close();
  assert.deepEqual(await zonesAfterStart(two), { bay: 'Europe/Paris', grand: 'Europe/Madrid' });
});

test('another version of Innbound, with other defaults, does not restore an old file either', async () => {
  const runtime = await start(one);
  const text = integration('grand', 'Europe/Vienna');
  await applyDocument(runtime, { kind: 'integration', name: 'grand', text }, 'ada');
  // With other defaults, all contents have other hashes.
  await runtime.pool.query(`update documents set hash = md5(hash)`);
  await runtime.close();
  const three = path.join(root, 'three');
  assert.equal(await readFile(path.join(three, 'integrations/grand.yaml'), 'utf8'), files['integrations/grand.yaml']);
  assert.deepEqual(await zonesAfterStart(three), { bay: 'Europe/Paris', grand: 'Europe/Vienna' });
});

test('comments that were changed in a file are in force after a start, and stay when another node starts', async () => {
  const commented = `# who to ask\n${files['destinations/lake.yaml']}`;
  await write(one, 'destinations/lake.yaml', commented);
  const textAfterStart = async (dir: string) => {
    const runtime = await start(dir);
    const found = await documentText(runtime.pool, 'destination', 'lake', undefined);
    const { rows } = await runtime.pool.query(`select actor, action, target from audit order by audit_id desc limit 1`);
    await runtime.close();
    audited.push(...rows);
    return found?.source;
  };
  const audited: { readonly actor: string; readonly target: Json }[] = [];
  assert.equal(await textAfterStart(one), commented);
  assert.match(JSON.stringify(audited), /"actor":"test","action":"documents.apply".*"destination lake version \d+"/);
  assert.equal(await textAfterStart(path.join(root, 'three')), commented);
});

test('a start also puts in force what a changed file needs, though it was removed elsewhere', async () => {
  await write(two, 'destinations/lake.yaml', files['destinations/lake.yaml']);
  await zonesAfterStart(two);
  const runtime = await start(one);
  const text = integration('grand', 'Europe/Rome').replace('deliver: [lake]\n', '');
  await applyDocument(runtime, { kind: 'integration', name: 'grand', text }, 'ada');
  await removeDocument(runtime, 'integration', 'bay', 'ada');
  await removeDocument(runtime, 'destination', 'lake', 'ada');
  await runtime.close();
  // Here the files still have the destination, so they are correct by themselves.
  await write(two, 'integrations/grand.yaml', integration('grand', 'Europe/Oslo'));
  const second = await start(two);
  const { integrations, destinations } = second.active();
  await second.close();
  assert.deepEqual(integrations.get('grand')?.body.deliver, ['lake']);
  assert.ok(destinations.has('lake'));
});
