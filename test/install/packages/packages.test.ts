import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { published, root } from '../../../scripts/packages/build.ts';
import { says } from '../clone.ts';
import { type Installation, install, type Packed, pack } from './installed.ts';
import { installedForSystemd } from './systemd.ts';

/** What people get from npm: packed, installed in empty folders, and used. */

let folder: string;
let packed: readonly Packed[];

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-packed-'));
  packed = await pack(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const manifestOf = (home: string) =>
  JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    dependencies?: object;
  };

test('the packages have one version and no dependencies but the binaries per system', () => {
  const manifests = published.map(manifestOf);
  const { version } = manifestOf(root);
  assert.deepEqual(
    manifests.map((each) => [each.name, each.version, each.dependencies]),
    ['innbound', 'innbound-sender', 'innbound-receiver', 'innbound-partner-kit'].map((name) => [
      name,
      version,
      undefined,
    ]),
  );
});

test('the packages are small and contain programs, types, licences and a README, no sources and no tests', () => {
  const megabytes = Object.fromEntries(packed.map(({ name, unpackedSize }) => [name, unpackedSize / 1e6]));
  const most: Record<string, number> = {
    // Of these, the drivers of buses and warehouses are 4.6 MB.
    innbound: 21,
    'innbound-partner-kit': 1,
    'innbound-receiver': 0.2,
    'innbound-sender': 0.2,
  };
  for (const [name, size] of Object.entries(megabytes)) assert.ok(size < (most[name] ?? 0), `${name}: ${size} MB`);
  for (const { name, files } of packed) {
    for (const file of ['README.md', 'LICENSE', 'package.json']) assert.ok(files.includes(file), `${name} has ${file}`);
    const foreign = files.filter((file) =>
      /(?<!\.d)\.[cm]?tsx?$|\.test\.|(^|\/)(tests?|cases|node_modules)\//.test(file),
    );
    assert.deepEqual(foreign, [], name);
  }
});

test('the packages name no folder of the machine that built them', () => {
  const naming = published.flatMap((home) =>
    readdirSync(path.join(home, 'dist'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name))
      .filter((file) => readFileSync(file, 'utf8').includes(root)),
  );
  assert.deepEqual(naming, []);
});

const isService = ({ name }: Packed) => name === 'innbound';
const isRoot = process.getuid?.() === 0;
const users: readonly (readonly [string, number | undefined, string | false])[] = [
  ['root', undefined, isRoot ? false : 'only root can be root'],
  ['an ordinary user', isRoot ? 65_534 : undefined, false],
];

for (const [who, uid, skip] of users) {
  test(`installed by ${who}: commands and demo`, { skip }, async (t) => {
    const installed = await install(t, packed.filter(isService), uid);
    await Promise.all([commands(installed), demo(installed)]);
  });
}

test('installed: sender, receiver and partner kit', async (t) => {
  const installed = await install(
    t,
    packed.filter((one) => !isService(one)),
    undefined,
  );
  await Promise.all([libraries(installed), partnerKit(installed)]);
});

test('installed for systemd: the packed program, its unit, settings and command; an upgrade keeps the settings', async (t) => {
  const innbound = packed.find(isService);
  await installedForSystemd(t, innbound?.file ?? '', manifestOf(root).version);
});

/** Not through npx, which passes no signals on. */
const command = (name: string) => path.join('node_modules', '.bin', name);

async function commands({ run }: Installation): Promise<void> {
  const { version } = manifestOf(root);
  assert.deepEqual(await run('npx', 'innbound', '--version'), { code: 0, out: `${version}\n`, err: '' });
  const made = await run(command('innbound'), 'init', 'hotels');
  assert.equal(made.code, 0, made.err);
  const valid = await run(command('innbound'), 'validate', '--workspace', 'hotels', '--json');
  assert.deepEqual([valid.code, valid.out], [0, ''], valid.err);
  const wrong = await run(command('innbound'), 'no-such-command');
  assert.equal(wrong.code, 1);
}

/** The demo as `npx innbound demo` shows it: the console is there at once, records arrive, Ctrl-C stops it in order. */
async function demo({ folder: home, start, run }: Installation): Promise<void> {
  const child = start(command('innbound'), ['demo', '--port', '0']);
  const ended = new Promise((resolve) => child.on('close', resolve));
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    await says(child, ' changes delivered');
    const url = /service +(http\S+)/.exec(said)?.[1] ?? '';
    while ((await fetch(`${url}/readyz`)).status !== 200) await sleep(50);
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
    assert.equal((await fetch(`${url}${script}`)).status, 200, page);
    const beside = await run(command('innbound'), 'endpoint', 'lisbon-grand', '--workspace', 'demo', '--json');
    assert.match(beside.out, /"endpoint_id"/, beside.err);
    while (!existsSync(path.join(home, 'demo', 'out', 'lake'))) await sleep(50);
    assert.doesNotMatch(said, /"level":[4-6]0|bin\/innbound/, said);
  } finally {
    child.kill('SIGINT');
    await ended;
  }
  assert.match(said, /Stopped\./);
}

const verifying = `
const { createHmac } = require('node:crypto');
const key = Buffer.alloc(24, 7);
const body = JSON.stringify({ type: 'reservation', integration: 'i', brand_id: 'B', event: 'created', version: 1, idempotency_key: 'k', data: { id: 'R-1' } });
const at = String(Math.floor(Date.now() / 1000));
const signature = 'v1,' + createHmac('sha256', key).update('k.' + at + '.' + body).digest('base64');
const headers = { 'webhook-id': 'k', 'webhook-timestamp': at, 'webhook-signature': signature };
const checked = verify({ headers, body, secrets: ['whsec_' + key.toString('base64')] });
console.log(checked.kind, isNewer(checked.message, undefined), typeof WebhookSender.open);
`;

/** By import and by require, on the system's Node. */
async function libraries({ folder: home, run }: Installation): Promise<void> {
  const names = '{ verify, isNewer }';
  const esm = `import { createRequire } from 'node:module';\nimport ${names} from 'innbound-receiver';\nimport { WebhookSender } from 'innbound-sender';\nconst require = createRequire(import.meta.url);\n`;
  const cjs = `const ${names} = require('innbound-receiver');\nconst { WebhookSender } = require('innbound-sender');\n`;
  for (const [file, head] of [
    ['use.mjs', esm],
    ['use.cjs', cjs],
  ] as const) {
    writeFileSync(path.join(home, file), head + verifying);
    assert.deepEqual(await run('node', file), { code: 0, out: 'verified true function\n', err: '' });
  }
}

/** The simulated hotel passes the check of the API, and the installed sender that of senders. */
async function partnerKit({ folder: home, start, run }: Installation): Promise<void> {
  const hotel = start(command('innbound-partner-kit'), ['simulate', '--port', '0', '--reservations', '40', '--json']);
  const sending = start(command('innbound-partner-kit'), ['check', '--sender', '--brand', 'LIS01', '--json']);
  // Now: the check of the sender ends by itself.
  const ended = Promise.all([once(hotel, 'close'), once(sending, 'close')]);
  try {
    const [{ base_url }, { url, secret }] = await Promise.all([firstJson(hotel), firstJson(sending)]);
    const checked = await run(command('innbound-partner-kit'), 'check', `${base_url}`, '--interval', '0', '--json');
    assert.equal(checked.code, 0, checked.out + checked.err);
    const send = `
      import { WebhookSender } from 'innbound-sender';
      const sender = await WebhookSender.open({ url: '${url}', secret: '${secret}', brandId: 'LIS01', backoff: { firstMs: 10 } });
      const sent = await Promise.all(['a', 'b', 'c'].map((id) => sender.send({ event: 'guest.updated', data: { guest_id: id, email: id + '@mail.example' } })));
      await sender.close();
      console.log(sent.map(({ kind }) => kind).join());`;
    writeFileSync(path.join(home, 'send.mjs'), send);
    const sent = await run('node', 'send.mjs');
    // The check refuses the second one, to see the retries.
    assert.equal(sent.out, 'delivered,dead,delivered\n', sent.err);
  } finally {
    for (const child of [hotel, sending]) child.kill('SIGINT');
    await ended;
  }
}

function firstJson(child: ReturnType<Installation['start']>): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let heard = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      if (heard.includes('\n')) resolve(JSON.parse(heard.slice(0, heard.indexOf('\n'))) as Record<string, unknown>);
    });
    child.on('close', () => reject(new Error(`ended early: ${heard}`)));
  });
}
