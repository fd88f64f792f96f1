import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { listen } from '../deliver/http-server.ts';
import { hubspotAccount } from '../deliver/vendors/hubspot.ts';
import { mailchimpAccount } from '../deliver/vendors/mailchimp.ts';
import { testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';

test('destination prepare creates what is missing, prints the settings, and needs a known destination', async (t) => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-destination-'));
  const account = mailchimpAccount();
  const server = await listen((request) => account.answer(request));
  const vendor = hubspotAccount();
  const hubspot = await listen((request) =>
    request.path.includes('/schemas')
      ? { status: 200, body: { results: [{ name: 'innbound_stay', fullyQualifiedName: '4711' }] } }
      : vendor.answer(request),
  );
  t.after(async () => {
    await hubspot.close();
    await server.close();
    await rm(dir, { recursive: true, force: true });
  });
  const document = `destination: news
type: http
preset: mailchimp
auth: { type: basic, username: innbound, password: "\${env:NEWS_KEY}" }
with: { base_url: "${server.url}/3.0", list_id: L1 }
`;
  const crm = `destination: crm
type: http
preset: hubspot
auth: { type: bearer, token: "\${env:NEWS_KEY}" }
with: { base_url: "${hubspot.url}" }
`;
  await mkdir(path.join(dir, 'destinations'));
  await writeFile(path.join(dir, 'destinations/news.yaml'), document);
  await writeFile(path.join(dir, 'destinations/crm.yaml'), crm);
  const { url } = await testDatabase();
  const env = { NEWS_KEY: 'key', INNBOUND_ALLOW_PRIVATE_NETWORK: '1', DATABASE_URL: url };
  const prepare = (...more: string[]) => innbound(['destination', 'prepare', ...more, '--workspace', dir], { env });

  const dry = await prepare('news', '--dry-run', '--json');
  assert.equal(dry.code, 0, dry.stderr);
  const [seen] = dry.json();
  assert.deepEqual([seen?.dry_run, seen?.done], [true, true]);
  assert.ok(server.received.every(({ method }) => method === 'GET'));
  assert.match(String(server.received[0]?.headers.authorization), /^Basic /);

  const first = await prepare('news');
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /created +merge field IB_BRAND\ncreated +merge field IB_NATION/);
  assert.match(first.stdout, /with:\n {2}merge_prefix: IB/);
  assert.match((await prepare('news')).stdout, /exists +merge field IB_BRAND/);

  const { stdout } = await prepare('crm');
  const [, block = ''] = stdout.split('Put into the document of crm:\n');
  assert.equal((parse(block) as { with: Record<string, unknown> }).with.stay_object, '4711', 'a number stays a text');

  const unknown = await prepare('other', '--json');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stdout, /There is no destination other; known destinations: crm, news/);
});

test('destination release shows what waits, then takes the destination out of preview', async (t) => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-release-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const files = {
    'connectors/hotel.yaml': 'connector: hotel\nshape: {}\n',
    'integrations/grand.yaml':
      'integration: grand\nconnector: hotel\nbrand_id: G1\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [lake]\npreview: [lake]\n',
    'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\n',
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  const env = { DATABASE_URL: (await testDatabase()).url };
  const release = (...more: string[]) =>
    innbound(['destination', 'release', 'lake', '-i', 'grand', '--json', ...more, '--workspace', dir], { env });
  assert.deepEqual((await release('--preview')).json(), [{ total: 0, looked_at: null, counts: [], samples: [] }]);
  assert.deepEqual((await release()).json(), [{ integration: 'grand', destination: 'lake', released: true }]);
  assert.ok(!(await readFile(path.join(dir, 'integrations/grand.yaml'), 'utf8')).includes('preview'));
  assert.equal((await release()).code, 1);
});
