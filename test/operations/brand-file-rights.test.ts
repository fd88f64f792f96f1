import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { loadDestinationTypes } from '../../src/core/deliver/destinations.ts';
import { sealSecret } from '../../src/core/documents/keyring.ts';
import { parseFile } from '../../src/core/documents/parse.ts';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { putSecret } from '../../src/core/store/documents/secrets.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { InnboundError } from '../../src/errors.ts';
import type { Keyring } from '../../src/kit/crypto.ts';
import { openedKeys } from '../../src/operator/operations/backup.ts';
import { applyDocument, removeDocument } from '../../src/operator/operations/edit-documents.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import { exportBrand, importBrand } from '../../src/operator/operations/transfer-brand.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import { testDatabase } from '../support/database.ts';
import { type Parts, sealed, setRow, tableOf, takeApart, textOf } from './archive-forgery.ts';

/** Whoever makes a brand's file writes its documents. They get what documents through the API get, and nothing else. */
const integration = (brand: string, more = '', token = `\${secret:${brand}_pms}`) => `integration: ${brand}
connector: ${brand}
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
pull:
  base_url: http://127.0.0.1:1/${brand}
  auth: { type: bearer, token: "${token}" }
  syncs: { stay: { every: 15m, range: [-30d, 0d] } }
deliver: [${brand}-lake]
${more}`;
const connector = (brand: string) => `connector: ${brand}
pull:
  request: { method: GET, path: /reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: none }
  property: hotel
`;
const lake = (brand: string, rest = 'type: files\npath: out') => `destination: ${brand}-lake\n${rest}\n`;
const documents = (brand: string): Record<string, string> => ({
  'innbound.yaml': 'network: { allow_private: true }\n',
  [`connectors/${brand}.yaml`]: connector(brand),
  [`integrations/${brand}.yaml`]: integration(brand),
  [`destinations/${brand}-lake.yaml`]: lake(brand),
});

const folders: string[] = [];
const runtimes: Runtime[] = [];

let url: string;

async function openIn(workspaceDir: string, database: string): Promise<Runtime> {
  const env = { DATABASE_URL: database };
  const runtime = await openRuntime({ workspaceDir, purpose: 'command', describe: 'test', env });
  runtimes.push(runtime);
  return runtime;
}

async function installation(brand: string): Promise<Runtime> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-rights-'));
  folders.push(dir);
  for (const [file, text] of Object.entries(documents(brand))) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  ({ url } = await testDatabase());
  const runtime = await openIn(dir, url);
  const { pool, keyring } = runtime;
  await putSecret(pool, `${brand}_pms`, sealSecret(keyring, `${brand}_pms`, `let ${brand} in`));
  await store(runtime, brand, 'R1', 'ana@guests.example');
  return runtime;
}

async function store(runtime: Runtime, brand: string, id: string, email: string): Promise<string> {
  const active = runtime.active().integrations.get(brand) ?? assert.fail();
  const guests = [{ first_name: 'Ana', last_name: 'Reis', email, is_primary: true }];
  const value = { id, check_in: '2026-12-01', check_out: '2026-12-03', status: 'confirmed', guests };
  const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_1' } as const;
  await transaction(runtime.pool, (tx) => ingest(tx, active, [read(active, { key: id, value }, arrival)]));
  const { rows } = await runtime.pool.query<{ data: string }>(
    `select data::text as data from records where integration = $1 and id = $2 and type = 'reservation'`,
    [brand, id],
  );
  return rows[0]?.data ?? '';
}

let to: Runtime;
let keys: Keyring;
let honest: Parts;
let scratch: string;

before(async () => {
  const from = await installation('grand');
  await eraseGuest(from, { email: 'bo@guests.example' }, 'test');
  to = await installation('palace');
  scratch = path.join(from.workspaceDir, 'grand.innbound');
  const passphrase = 'correct horse battery staple';
  await exportBrand(from, 'grand', scratch, { by: 'test', passphrase, onTable: () => {} });
  honest = await takeApart(scratch);
  keys = openedKeys(honest.header.keys as Parameters<typeof openedKeys>[0], passphrase);
});

after(async () => {
  for (const runtime of runtimes) await runtime.close();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const copied = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

/** The file with another text of its document, and the body of that text. */
function withText(parts: Parts, kind: 'integration' | 'destination', text: string): Parts {
  const { document } = parseFile({ kind, file: 'x.yaml', text });
  assert.ok(document, text);
  const table = tableOf(parts, 'documents');
  // Rows of secrets that no document names are refused anyway.
  if (kind === 'integration' && !text.includes('grand_pms')) tableOf(parts, 'secrets').rows = [];
  const columns = (table.head as { columns: string[] }).columns;
  table.rows = table.rows.map((row) => {
    const fields = row.split('\t');
    if (fields[columns.indexOf('kind')] !== kind) return row;
    return fields
      .with(columns.indexOf('source'), copied(text))
      .with(columns.indexOf('body'), copied(JSON.stringify(document.body)))
      .join('\t');
  });
  return parts;
}

async function importParts(parts: Parts, options: { apply: boolean; secretsHere?: string[] }) {
  await writeFile(scratch, sealed(keys[0], parts.header, textOf(parts)));
  const { apply, secretsHere = [] } = options;
  return importBrand(to, scratch, { passphrase: undefined, apply, secretsHere, keysOf: () => keys });
}

const refusal = async (parts: Parts, what: string): Promise<string> => {
  const error = await importParts(parts, { apply: true }).then(
    () => assert.fail(`${what} was accepted`),
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof InnboundError, `${what}: ${(error as Error).stack}`);
  return error.message;
};

/** What only somebody with a shell on the machine may write. */
const rights: readonly (readonly [what: string, kind: 'integration' | 'destination', text: string, says: RegExp])[] = [
  ['a variable of the host', 'integration', integration('grand', '', `\${env:HOME}`), /env:HOME/],
  ['a file of the host', 'integration', integration('grand', '', `\${file:/etc/hostname}`), /etc\/hostname/],
  ...['/tmp/elsewhere', '../elsewhere', 'a/../../elsewhere', '.innbound', '.INNBOUND/x', './.Innbound'].map(
    (folder) =>
      [`the folder ${folder}`, 'destination', lake('grand', `type: files\npath: "${folder}"`), /workspace/] as const,
  ),
  [
    'the identity of the machine',
    'destination',
    lake('grand', 'type: s3\nbucket: mine-all-mine\nregion: eu-west-1\ncredentials: machine'),
    /machine/,
  ],
  [
    'a certificate of the host in the address of a warehouse',
    'destination',
    lake('grand', 'type: postgres\nurl: "postgres://u@db.example/x?ssl%72ootcert=/dev/zero"'),
    /sslrootcert/,
  ],
  ['the account of a brand that does not exist', 'integration', pulledBy('nobody'), /nobody/],
];

/** A destination of each type, and what the preview says about where it is. */
const aws = 'region: eu-west-1\ncredentials: { access_key_id: A, secret_access_key: s }';
const elsewhere: readonly (readonly [type: string, rest: string, shows: string])[] = [
  ['bigquery', 'project: my-hotels\ncredentials: k', 'project my-hotels'],
  ['clickhouse', 'url: https://u:p@evil.example/x', 'https://evil.example'],
  ['databricks', 'host: evil.example\ntoken: t\nwarehouse_id: w\ncatalog: c', 'host evil.example'],
  ['eventbridge', aws, 'bus default'],
  ['http', 'receives: [guest]\npreset: brevo\nauth: { type: custom, headers: { api-key: k } }', 'preset brevo'],
  ['kafka', 'brokers: ["evil.example:9092"]\ntopic: t', 'brokers evil.example:9092'],
  ['motherduck', 'token: t\ndatabase: d', 'the service motherduck'],
  ['mysql', 'url: mysql://u:p@evil.example/x', 'mysql://evil.example'],
  ['nats', 'servers: ["evil.example:4222"]\nsubject: s', 'servers evil.example:4222'],
  ['postgres', 'url: postgres://u:p@evil.example/x', 'postgres://evil.example'],
  ['pubsub', 'project: my-hotels\ntopic: changes\ncredentials: k', 'project my-hotels'],
  ['rabbitmq', 'url: amqps://u:p@evil.example\nrouting_key: q', 'amqps://evil.example'],
  ['redshift', 'url: redshift://u:p@evil.example/x', 'redshift://evil.example'],
  ['s3', `bucket: mine-all-mine\n${aws}`, 'bucket mine-all-mine'],
  ['servicebus', 'namespace: evil-bus\nentity: q\nkey_name: n\nkey: k', 'namespace evil-bus'],
  ['snowflake', 'account: EVIL-1\nuser: U\nprivate_key: k\nwarehouse: W\ndatabase: D', 'account EVIL-1'],
  ['sns', `topic_arn: arn:aws:sns:eu-west-1:123456789012:t\n${aws}`, 'topic_arn arn:aws:sns:eu-west-1:123456789012:t'],
  ['sqlserver', 'url: sqlserver://u:p@evil.example/x', 'sqlserver://evil.example'],
  ['sqs', `queue_url: https://sqs.evil.example/1/q\n${aws}`, 'https://sqs.evil.example'],
  ['webhook', 'url: https://evil.example/in\nsecret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'https://evil.example'],
];

function pulledBy(other: string): string {
  return integration('grand', `pulled_by: ${other}\n`).replace(/^pull:\n(?: {2}.*\n)*/m, '');
}

test('a document that only a shell may write is refused at every door', async () => {
  for (const [what, kind, text, says] of rights) {
    assert.match(await refusal(withText(structuredClone(honest), kind, text), `${what}, in a brand's file`), says);
    const name = kind === 'integration' ? 'grand' : 'grand-lake';
    for (const [of, part] of [
      ['connector', connector('grand')],
      ['destination', lake('grand')],
    ] as const) {
      const named = of === 'connector' ? 'grand' : 'grand-lake';
      await applyDocument(to, { kind: of, name: named, text: part }, 'test');
    }
    const edited = await applyDocument(to, { kind, name, text }, 'test').catch((error: InnboundError) => error);
    assert.ok(edited instanceof InnboundError && edited.code === 'documents.invalid', `${what}, through the API`);
    assert.match(JSON.stringify(edited.detail.mistakes), says);
    for (const [of, named] of [
      ['connector', 'grand'],
      ['destination', 'grand-lake'],
    ] as const)
      await removeDocument(to, of, named, 'test');
    // What was here before would be compared with the file.
    await to.pool.query(`delete from documents where name in ('grand', 'grand-lake')`);
  }
});

test('a brand in a file does not share the account of a brand here', async () => {
  const text = pulledBy('palace').replace('connector: grand', 'connector: palace');
  const said = await refusal(withText(structuredClone(honest), 'integration', text), 'pulled_by');
  assert.match(said, /pulled together with palace|does not belong/);
});

test('a file cannot use up the numbers that all brands count with', async () => {
  for (const table of ['records', 'history']) {
    const parts = structuredClone(honest);
    setRow(parts, table, { seq: String(Number.MAX_SAFE_INTEGER - 1) });
    assert.match(await refusal(parts, table), /number of an arrival/);
  }
});

test('a secret that exists here is a question, answered for each name', async () => {
  const uses = (name: string) =>
    withText(structuredClone(honest), 'integration', integration('grand', '', `\${secret:${name}}`));
  const naming = uses('palace_pms');
  assert.match(await refusal(naming, 'a secret of another brand'), /palace_pms has another value here/);
  await assert.rejects(importParts(naming, { apply: false, secretsHere: ['another'] }), {
    code: 'operate.transfer_refused',
  });
  const decided = await importParts(naming, { apply: false, secretsHere: ['palace_pms'] });
  assert.deepEqual([decided.secrets, decided.secretsKept], [[], ['palace_pms']]);

  const { pool, keyring } = to;
  await putSecret(pool, 'grand_pms', sealSecret(keyring, 'grand_pms', 'another value'));
  assert.match(await refusal(structuredClone(honest), 'a name with another value'), /grand_pms has another value here/);
  await putSecret(pool, 'grand_pms', sealSecret(keyring, 'grand_pms', 'let grand in'));
  assert.deepEqual((await importParts(structuredClone(honest), { apply: false })).secretsKept, []);
});

test('the preview shows what the brand reaches; its erasures hold for it alone', async () => {
  const preview = await importParts(structuredClone(honest), { apply: false });
  const { addresses, folders: written, secrets, erasures } = preview;
  assert.deepEqual(
    { addresses, written, secrets, erasures },
    { addresses: ['http://127.0.0.1:1'], written: ['out'], secrets: ['grand_pms'], erasures: 1 },
  );
  const asSecret = integration('grand').replace('http://127.0.0.1:1/grand', `\${secret:grand_pms}`);
  const hidden = await importParts(withText(structuredClone(honest), 'integration', asSecret), { apply: false });
  assert.deepEqual(hidden.addresses, [], 'a secret that is no address shows nothing of itself');

  const shown = async (rest: string) => {
    const parts = withText(structuredClone(honest), 'destination', lake('grand', rest));
    return (await importParts(parts, { apply: false })).addresses.filter((one) => !one.includes('127.0.0.1'));
  };
  const seen = new Set(['files']);
  for (const [type, rest, wanted] of elsewhere) {
    seen.add(type);
    assert.deepEqual(await shown(`type: ${type}\n${rest}`), [wanted], type);
  }
  assert.deepEqual([...(await loadDestinationTypes()).keys()].sort(), [...seen].sort(), 'every type shows where it is');

  await importParts(structuredClone(honest), { apply: true });
  // The keys that recognise the erased guests are read at the start.
  await to.close();
  to = await openIn(to.workspaceDir, url);
  assert.match(await store(to, 'palace', 'R2', 'bo@guests.example'), /bo@guests/, 'the other brand never erased him');
  assert.doesNotMatch(await store(to, 'grand', 'R2', 'bo@guests.example'), /bo@guests/);
  // An erasure here holds for all brands, also of somebody whom the file had erased for its own.
  await eraseGuest(to, { email: 'bo@guests.example' }, 'test');
  assert.doesNotMatch(await store(to, 'palace', 'R3', 'bo@guests.example'), /bo@guests/);
});
