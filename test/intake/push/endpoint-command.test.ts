import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../../../src/service.ts';
import { testDatabase } from '../../support/database.ts';
import { innbound, until } from '../../support/process.ts';
import { eventBody, exchange, integration, rawRequest } from './support.ts';

/** `innbound endpoint` beside a running service: issue, show, rotate, set the sender's own secret, list refusals, retire. */

let dir: string;
let service: Service;
let database: string;

before(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-endpoint-'));
  for (const kind of ['connectors', 'integrations']) await mkdir(path.join(dir, kind));
  await writeFile(path.join(dir, 'connectors', 'pms.yaml'), 'connector: pms\n');
  const hotel = (name: string, push: string) =>
    `integration: ${name}\nconnector: pms\nbrand_id: LIS01\ntimezone: Europe/Lisbon\npush: { ${push} }\n`;
  await writeFile(path.join(dir, 'integrations', 'a.yaml'), hotel(integration, 'enabled: true'));
  await writeFile(path.join(dir, 'integrations', 'b.yaml'), hotel('pull-only', 'enabled: false'));
  await writeFile(
    path.join(dir, 'integrations', 'c.yaml'),
    hotel('cloud', 'enabled: true').replace('connector: pms', 'connector: cloudbeds'),
  );
  database = (await testDatabase()).url;
  const env = { DATABASE_URL: database };
  service = await startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'web', logLevel: 'silent' });
});
after(async () => {
  await service?.stop();
  await rm(dir, { recursive: true, force: true });
});

const endpoint = (args: string[], input = '') =>
  innbound(['endpoint', ...args, '--workspace', dir, '--json'], { env: { DATABASE_URL: database }, input });
let sent = 0;
async function send(address: { endpointId: string; secret: string }): Promise<number | undefined> {
  const body = eventBody({ event_id: `command-${++sent}` });
  const [answer] = await exchange(Number(new URL(service.url).port), rawRequest(address, body));
  return answer?.status;
}
const secrets: string[] = [];
let endpointId = '';

test('issued once, with its secret; shown again without', async () => {
  const [issued] = (await endpoint([integration])).json();
  endpointId = String(issued?.endpoint_id);
  secrets.push(String(issued?.secret));
  assert.deepEqual(Object.keys(issued ?? {}), ['endpoint_id', 'url', 'sandbox_url', 'secret']);
  assert.equal(issued?.url, `${service.url}/webhooks/${endpointId}`);
  const [again] = (await endpoint([integration])).json();
  assert.deepEqual(again, { endpoint_id: endpointId, url: issued?.url, sandbox_url: issued?.sandbox_url });
  assert.equal(await send({ endpointId, secret: secrets[0] ?? '' }), 202);
});

test('after a rotation both secrets are valid; without overlap only the new one', async () => {
  const [rotated] = (await endpoint([integration, '--rotate'])).json();
  secrets.push(String(rotated?.secret));
  for (const secret of secrets) assert.equal(await send({ endpointId, secret }), 202);
  const [last] = (await endpoint([integration, '--rotate', '--overlap', '0s'])).json();
  for (const secret of secrets) assert.equal(await send({ endpointId, secret }), 401);
  assert.equal(await send({ endpointId, secret: String(last?.secret) }), 202);
});

test('a sender’s own secret is read from standard input and never shown', async () => {
  const secret = 'the sender’s own secret, as long as it likes';
  const { code, stdout, stderr } = await endpoint([integration, '--secret-stdin', '--overlap', '0s'], `${secret}\n`);
  assert.equal(code, 0, stderr);
  assert.ok(!stdout.includes('secret"') && !stdout.includes('sender’s own'));
  assert.equal(await send({ endpointId, secret }), 202);
  for (const weak of ['short', 'a'.repeat(40), 'hunter2hunter2hunter2hunter2', '0123012301230123012301230123']) {
    assert.equal((await endpoint([integration, '--secret-stdin'], weak)).code, 1, weak);
  }
});

test('refused requests are listed with their reason', async () => {
  const refused = await until('the refusals are written', async () => {
    const lines = (await endpoint([integration, '--rejections'])).json();
    return lines.length > 0 && lines;
  });
  assert.equal(refused[0]?.code, 'push.unauthorized');
  assert.equal(refused[0]?.reason, 'signature_wrong');
  assert.match(JSON.stringify(refused[0]), /"header_names":\[[^\]]*"x-webhook-signature"/);
});

test('a retired endpoint answers 410; the next call issues another', async () => {
  assert.deepEqual((await endpoint([integration, '--retire'])).json(), [{ retired: true }]);
  assert.equal(await send({ endpointId, secret: 'any' }), 410);
  assert.equal((await endpoint([integration, '--retire'])).code, 1);
  const [next] = (await endpoint([integration])).json();
  assert.notEqual(next?.endpoint_id, endpointId);
  assert.equal(await send({ endpointId: String(next?.endpoint_id), secret: String(next?.secret) }), 202);
});

test('for a sender with a token in the URL, the command shows the URL to enter', async () => {
  const { stdout, stderr } = await innbound(['endpoint', 'cloud', '--workspace', dir], {
    env: { DATABASE_URL: database },
  });
  assert.match(stderr, /enter the URL there as http\S+\?token=SECRET/);
  assert.match(stdout, /whsec_/);
});

test('mistakes are reported with a code and the next step; the help shows readable durations', async () => {
  const calls = [
    [['nobody'], 'documents.unknown_name'],
    [['pull-only'], 'push.no_endpoint'],
    [[integration, '--rotate', '--retire'], 'operate.usage'],
  ] as const;
  for (const [args, code] of calls) {
    const { stdout } = await endpoint([...args]);
    assert.equal((JSON.parse(stdout) as { error: { code: string } }).error.code, code);
  }
  assert.notEqual((await endpoint([integration, '--rotate', '--overlap', '90'])).code, 0);
  const { stdout } = await innbound(['endpoint', '--help']);
  assert.match(stdout, /default:\s+1d/);
});
