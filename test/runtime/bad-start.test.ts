import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { InnboundError } from '../../src/errors.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { putSecret } from '../../src/operator/operations/resume.ts';
import { judgeCauses } from '../../src/operator/operations/watch-once.ts';
import { type Service, startService } from '../../src/service.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

/** A service that starts again after somebody left a mistake: what was in force goes on, and an alert says which document did not. */
const files = {
  'innbound.yaml': 'network: { allow_private: true }\nlimits: { json_depth: 77 }\n',
  'connectors/hotel.yaml': 'connector: hotel\n',
  'integrations/grand.yaml':
    'integration: grand\nconnector: hotel\nbrand_id: G\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [lake]\n',
  'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\n',
};

let dir: string;
let database: TestDatabase;
let service: Service | undefined;
before(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-start-'));
  database = await testDatabase();
});
after(async () => {
  await service?.stop();
  await rm(dir, { recursive: true, force: true });
  await database.drop();
});

async function write(changed: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const [file, text] of Object.entries({ ...files, ...changed })) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
}

async function restarted(): Promise<Service> {
  await service?.stop();
  service = undefined;
  const env = { DATABASE_URL: database.url, INNBOUND_LOG_LEVEL: 'silent' };
  service = await startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'all' });
  return service;
}

async function alertsOf({ runtime }: Service): Promise<string[]> {
  await judgeCauses(runtime);
  const { rows } = await runtime.pool.query<{ message: string }>(
    `select message from alerts where kind = 'document_broken' and resolved_at is null order by message`,
  );
  return rows.map(({ message }) => message);
}

test('the first start of a workspace with a mistake is refused: nothing is in force yet', async () => {
  await write({ 'integrations/grand.yaml': 'integration: grand\nconnector: missing\n' });
  await assert.rejects(restarted(), { code: 'documents.invalid' });
});

test('a later start goes on with what was in force, whichever file has the mistake', async () => {
  await write();
  await restarted();
  const mistakes: readonly [file: string, text: string, alert: RegExp][] = [
    [
      'integrations/grand.yaml',
      files['integrations/grand.yaml'].replace('push: { enabled: true }', 'pulled_by: nobody'),
      /integrations\/grand\.yaml.*nobody/,
    ],
    ['integrations/new.yaml', 'integration: new\nconnector: missing\n', /integrations\/new\.yaml/],
    ['connectors/hotel.yaml', 'connector: hotel\nmap: { id: 7 }\n', /connectors\/hotel\.yaml/],
    ['destinations/lake.yaml', ': not yaml [', /destinations\/lake\.yaml/],
    ['innbound.yaml', 'limits: { json_depth: many }\n', /innbound\.yaml/],
  ];
  for (const [file, text, alert] of mistakes) {
    await write({ [file]: text });
    const started = await restarted();
    const { documents, destinations, settings } = started.runtime.active();
    assert.deepEqual([...documents.keys()], ['grand'], file);
    assert.equal(documents.get('grand')?.body.push.enabled, true, file);
    assert.ok(destinations.has('lake'), file);
    assert.equal(settings.limits.json_depth, 77, file);
    const open = await alertsOf(started);
    assert.ok(
      open.some((message) => alert.test(message)),
      `${file}: ${open.join()}`,
    );
    await rm(path.join(dir, 'integrations/new.yaml'), { force: true });
  }
  await write();
  assert.deepEqual(await alertsOf(await restarted()), [], 'the alert ends');
});

test('settings of the network that cannot be read send nothing, and stop no node', async () => {
  const ca = '  ca: missing.pem\n';
  await write({ 'innbound.yaml': `network:\n  allow_private: true\n${ca}` });
  const started = await restarted();
  assert.match((await alertsOf(started)).join(), /network\.ca names missing\.pem: it cannot be read \(ENOENT\)/);
  const sent = await started.runtime.http.request({
    method: 'GET',
    url: started.url,
    headers: {},
    deadlineMs: 1_000,
    idleMs: 1_000,
    expects: 'short',
  });
  assert.equal(sent.kind, 'failed');
  assert.equal((await fetch(`${started.url}/api/v1/session`)).status, 401, 'it serves');
});

test('a stored secret names no certificate file outside the workspace either', async () => {
  await write();
  const { runtime } = await restarted();
  await putSecret(runtime, 'authorities', '/dev/zero');
  const text = `network: { allow_private: true, ca: "\${secret:authorities}" }\n`;
  await applyDocument(runtime, { kind: 'workspace', name: '', text }, 'test');
  const started = await restarted();
  assert.match((await alertsOf(started)).join(), /secret in network\.ca names a path outside the workspace/);
});

test('the API does not name a certificate file that is not there, or one outside the workspace', async () => {
  await write();
  const { runtime } = await restarted();
  await writeFile(path.join(dir, 'text.pem'), 'no certificate\n');
  for (const [file, says] of [
    ['absent.pem', /cannot be read \(ENOENT\)/],
    ['text.pem', /no certificate/],
    ['/etc/ssl/certs/ca-certificates.crt', /innbound apply/],
    ['../outside.pem', /innbound apply/],
    ['/dev/zero', /innbound apply/],
  ] as const) {
    const text = `network: { allow_private: true, ca: ${file} }\n`;
    const edited = await applyDocument(runtime, { kind: 'workspace', name: '', text }, 'test').catch(
      (error: InnboundError) => error,
    );
    assert.ok(edited instanceof InnboundError && edited.code === 'documents.invalid', file);
    const mistakes = edited.detail.mistakes as readonly { readonly message: string }[];
    assert.match(mistakes.map(({ message }) => message).join(), says);
  }
});
