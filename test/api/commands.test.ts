import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { innbound, type ServiceProcess, serve, until } from '../support/process.ts';

/** The operator's commands beside a running service. */

let dir: string;
let service: ServiceProcess;
before(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-commands-'));
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  };
  await write('connectors/hotel.yaml', 'connector: hotel\n');
  await write(
    'integrations/grand.yaml',
    'integration: grand\nconnector: hotel\nbrand_id: LIS01\ntimezone: UTC\ndeliver: [lake]\n',
  );
  await write('destinations/lake.yaml', 'destination: lake\ntype: files\npath: out\n');
  service = await serve(dir);
});
after(async () => {
  await service.stop();
  await rm(dir, { recursive: true, force: true });
});

const at = (...args: string[]) => innbound([...args, '--workspace', dir, '--json']);
const call = (pathname: string, token: string) =>
  fetch(`${service.url}${pathname}`, { headers: { authorization: `Bearer ${token}` } });

test('token create creates a token that works at once; revoke ends it', async () => {
  const [made] = (
    await at('token', 'create', '--role', 'operator', '--integration', 'grand', '--expires', '1d')
  ).json();
  const token = String(made?.token);
  assert.equal((await call('/api/v1/integrations', token)).status, 200);
  assert.equal((await call('/api/v1/tokens', token)).status, 403);
  const listed = (await at('token', 'list')).json();
  assert.equal(listed.find((one) => one.token_id === made?.token_id)?.role, 'operator');
  assert.ok(!JSON.stringify(listed).includes(token));
  assert.equal((await at('token', 'revoke', String(made?.token_id))).code, 0);
  assert.equal((await call('/api/v1/integrations', token)).status, 401);
  assert.equal((await at('token', 'create', '--role', 'king')).code, 1);
  assert.equal((await at('token', 'create', '--integration', 'nowhere')).code, 1);
  // The limits of the API. A date that JavaScript does not know made the list of tokens fail.
  assert.equal((await at('token', 'create', '--expires', '99999999d')).code, 1);
  assert.equal((await at('token', 'create', '--name', ' ')).code, 1);
});

test('token sign-in creates a link to the running service', async () => {
  const [link] = (await at('token', 'sign-in', '--role', 'admin')).json();
  assert.ok(String(link?.url).startsWith(`${service.url}/sign-in#ibs_`), String(link?.url));
});

test('erase returns a receipt even if nothing was found, and refuses an invalid address', async () => {
  const ran = await at('erase', '--email', 'nobody@mail.example');
  assert.equal(ran.code, 0, ran.stderr);
  const [receipt] = ran.json();
  assert.match(String(receipt?.erasure_id), /^era_/);
  assert.deepEqual((receipt?.removed as { records: number } | undefined)?.records, 0);
  assert.ok(!ran.stdout.includes('nobody'));
  const refused = await at('erase', '--email', 'nobody');
  assert.equal(refused.code, 1);
  assert.equal((refused.json()[0]?.error as { code: string } | undefined)?.code, 'operate.invalid_input');
});

test('commands of an operator are in the audit log', async () => {
  const piped = await innbound(['erase', '--email', '-', '--workspace', dir, '--json'], {
    input: 'piped@mail.example\n',
  });
  assert.equal(piped.code, 0, piped.stderr);
  await innbound(['secret', 'set', 'pms-token', '--workspace', dir], { input: 'a secret' });
  await at('secret', 'delete', 'pms-token');
  await at('resend', 'lake');
  await at('reprocess', 'grand');
  await at('refetch', 'R1', '--integration', 'grand');
  const [admin] = (await at('token', 'create', '--role', 'admin')).json();
  const response = await call('/api/v1/audit', String(admin?.token));
  const { items } = (await response.json()) as { items: { actor: string; action: string; target: object }[] };
  const mine = items.filter(({ actor }) => actor.endsWith('(command line)')).map(({ action }) => action);
  for (const action of [
    'privacy.erase',
    'secrets.put',
    'secrets.delete',
    'integrations.resend',
    'jobs.preview',
    'integrations.refetch',
    'tokens.create',
  ]) {
    assert.ok(mine.includes(action), `${action} in ${mine.join(', ')}`);
  }
  assert.ok(!JSON.stringify(items).includes('mail.example'));
});

test('a running service takes up a new limit, and says which settings need a restart', async () => {
  const send = async () => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${service.url}/webhooks/whk_nobody`, { method: 'POST', headers, body: '7'.repeat(3_000) }))
      .status;
  };
  assert.equal(await send(), 404);
  await writeFile(path.join(dir, 'innbound.yaml'), 'limits: { webhook_body: 2KiB }\nmetrics: { access: off }\n');
  assert.equal((await at('apply')).code, 0);
  await until('the limit is in force', async () => (await send()) === 413);
  await until('a warning', async () => /changed: restart this node/.test(service.stderr()));
});

test('alerts and metrics answer', async () => {
  assert.equal((await at('alerts')).code, 0);
  assert.equal((await at('alerts', '--acknowledge', 'alr_none')).code, 1);
  assert.equal((await fetch(`${service.url}/metrics`)).status, 401, 'they name integrations');
  const [limited] = (await at('token', 'create', '--integration', 'grand')).json();
  assert.equal((await call('/metrics', String(limited?.token))).status, 401);
  const [made] = (await at('token', 'create', '--role', 'viewer')).json();
  const metrics = await call('/metrics', String(made?.token));
  assert.equal(metrics.status, 200);
  assert.match(await metrics.text(), /innbound_store_up 1/);
});

test('a service with live listeners stops in time: otherwise it exits with 1', async () => {
  const [made] = (await at('token', 'create', '--role', 'viewer')).json();
  const response = await call('/api/v1/live', String(made?.token));
  assert.equal(response.status, 200);
  assert.equal(await service.stop(), 0);
  await response.body?.cancel().catch(() => {});
});
