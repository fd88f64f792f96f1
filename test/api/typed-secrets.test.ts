import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode } from './node.ts';

/** What happens to a credential that somebody types into a document in the console. */

let node: ApiNode;
let admin: string;
before(async () => {
  node = await apiNode('', {
    'destinations/crm.yaml': `destination: crm\ntype: http\nurl: https://crm.example\nheaders: { X-Env: "\${env:CRM_KEY}" }\n`,
    'destinations/pool.yaml': 'destination: pool\ntype: s3\nbucket: lake\ncredentials: machine\n',
  });
  admin = await node.token('admin');
});
after(() => node.stop());

const put = (kind: string, name: string, text: string) =>
  node.call('PUT', `/documents/${kind}/${name}`, admin, { text });

/** Every row of every table as text. */
async function dump(): Promise<string> {
  const { rows: tables } = await node.runtime.pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  const all: string[] = [];
  for (const { name } of tables) {
    const { rows } = await node.runtime.pool.query<{ row: string }>(`select t::text as row from ${name} t`);
    all.push(...rows.map(({ row }) => row));
  }
  return all.join('\n');
}

test('a typed credential is in no table, file or answer, and still works', async () => {
  const text = `destination: typed
type: http
url: "https://crm.example/in?k=CANARY\\u0031"
headers:
  X-Key: >-
    CANARY2
    folded
with: { code: 'CANARY3' }
auth: { type: bearer, token: "CANARY\\x34" }
`;
  const applied = await put('destination', 'typed', text);
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  assert.ok(!(await dump()).includes('CANARY'));
  const file = path.join(node.runtime.workspaceDir, 'destinations/typed.yaml');
  assert.ok(!(await readFile(file, 'utf8')).includes('CANARY'));
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const viewer = await node.token('viewer');
  const shown = await node.call('GET', '/documents/destination/typed', viewer);
  assert.ok(!JSON.stringify(shown.body).includes('CANARY'));
  const body = node.runtime.active().destinations.get('typed')?.body;
  const resolved = await node.runtime.resolve(body as object);
  assert.ok(resolved.kind === 'ok');
  const { url, headers, with: values, auth } = resolved.body as unknown as Record<string, Record<string, string>>;
  assert.deepEqual(
    [url, headers?.['X-Key'], values?.code, auth?.token],
    ['https://crm.example/in?k=CANARY1', 'CANARY2 folded', 'CANARY3', 'CANARY4'],
  );
  // Applied again, as it is shown: nothing changes.
  const again = await put('destination', 'typed', shown.body.source);
  assert.deepEqual([again.status, again.body.version], [200, applied.body.version]);
});

test('nothing but credentials is sealed: the ids of an account stay readable beside its key', async () => {
  const source: string = (await node.call('GET', '/documents/integration/grand', admin)).body.source;
  const text = source.replace(/^( +)base_url:/m, '$1query: { propertyId: "4711", api_key: hush-hush }\n$1base_url:');
  assert.notEqual(text, source);
  assert.equal((await put('integration', 'grand', text)).status, 200);
  const kept: string = (await node.call('GET', '/documents/integration/grand', admin)).body.source;
  assert.match(kept, /propertyId: "4711"/);
  assert.doesNotMatch(kept, /hush-hush/);
  assert.equal((await put('integration', 'grand', source)).status, 200);
});

test('masking a short credential changes no other text', async () => {
  const source: string = (await node.call('GET', '/documents/integration/grand', admin)).body.source;
  const text = source.replace(/token: "[^"]*"/, 'token: a');
  assert.notEqual(text, source);
  assert.equal((await put('integration', 'grand', text)).status, 200);
  const kept: string = (await node.call('GET', '/documents/integration/grand', admin)).body.source;
  assert.equal(kept.replace(/token: "[^"]*"/, 'token: a'), text);
  const again = await put('integration', 'grand', kept.replace('Europe/Lisbon', 'Europe/Madrid'));
  assert.equal(again.status, 200, JSON.stringify(again.body));
});

test('the API cannot add references to variables or files; one that is in force may stay', async () => {
  for (const reference of ['env:HOME', 'file:.innbound/key', 'file:/etc/hostname'].map((one) => `\${${one}}`)) {
    const text = `destination: out\ntype: http\nurl: https://crm.example\nheaders: { X-Out: "${reference}" }\n`;
    const refused = await put('destination', 'out', text);
    assert.equal(refused.status, 422, JSON.stringify(refused.body));
    assert.match(JSON.stringify(refused.body), /can only be added with `innbound apply`/);
    const { mistakes } = (await node.call('POST', '/documents/validate', admin, { kind: 'destination', text })).body;
    assert.equal(mistakes.length, 1);
    assert.equal(mistakes[0].line, 4);
  }
  const crm: string = (await node.call('GET', '/documents/destination/crm', admin)).body.source;
  const kept = await put('destination', 'crm', `${crm}paused: true\n`);
  assert.equal(kept.status, 200, JSON.stringify(kept.body));
});

test('the API cannot give a destination the identity of the machine; a file can', async () => {
  const lake = (credentials: string) => `destination: out\ntype: s3\nbucket: lake\n${credentials}`;
  const without = await put('destination', 'out', lake(''));
  assert.equal(without.status, 422, JSON.stringify(without.body));
  assert.match(JSON.stringify(without.body), /credentials/);
  const refused = await put('destination', 'out', lake('credentials: machine\n'));
  assert.equal(refused.status, 422, JSON.stringify(refused.body));
  assert.match(JSON.stringify(refused.body), /can only be added with `innbound apply`/);
  const key = '{ access_key_id: AKID, secret_access_key: canary }';
  const typed = await put('destination', 'out', lake(`credentials: ${key}\n`));
  assert.equal(typed.status, 200, JSON.stringify(typed.body));
  const shown = await node.call('GET', '/documents/destination/out', admin);
  assert.ok(!JSON.stringify(shown.body).includes('canary'));
  const machine: string = (await node.call('GET', '/documents/destination/pool', admin)).body.source;
  const kept = await put('destination', 'pool', `${machine}paused: true\n`);
  assert.equal(kept.status, 200, JSON.stringify(kept.body));
});

test('the API cannot let a destination write outside the workspace; a file can', async () => {
  for (const folder of ['/etc', '..', '../other', 'out/../../other', '.innbound', 'out/../.innbound/pg']) {
    const refused = await put('destination', 'out', `destination: out\ntype: files\npath: ${folder}\n`);
    assert.equal(refused.status, 422, folder);
    assert.match(JSON.stringify(refused.body), /can only be added with `innbound apply`/);
  }
  const inside = await put('destination', 'out', 'destination: out\ntype: files\npath: out/../lake\n');
  assert.equal(inside.status, 200, JSON.stringify(inside.body));
});

test('a record cannot choose the host', async () => {
  for (const url of [
    'https://{data.extra.host}/in',
    '{data.extra.url}',
    'https://{data.id}.crm.example/',
    'https://crm.example:{data.id}/',
    '{with.base}{data.id}',
  ]) {
    const text = `destination: out\ntype: http\nurl: "${url}"\n`;
    const refused = await put('destination', 'out', text);
    assert.equal(refused.status, 422, url);
    assert.match(JSON.stringify(refused.body), /a record must not choose it/, url);
  }
  const erased = `destination: out\ntype: http\nurl: https://crm.example\non: { erased: { url: "https://{data.id}/" } }\n`;
  assert.equal((await put('destination', 'out', erased)).status, 422);
  const hidden = `destination: out\ntype: http\nurl: "{with.base}/in"\nwith: { base: "https://{data.id}" }\n`;
  assert.equal((await put('destination', 'out', hidden)).status, 422);
  const fine = `destination: out\ntype: http\nurl: "{with.base}/in/{data.id}"\nwith: { base: "https://crm.example" }\n`;
  assert.equal((await put('destination', 'out', fine)).status, 200);
});
