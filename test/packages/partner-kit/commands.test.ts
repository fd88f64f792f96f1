import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { type Simulator, sampleAuth, startSimulator } from '../../../packages/partner-kit/src/simulate/index.ts';
import { WebhookSender } from '../../../packages/sender/src/index.ts';
import { bin, innbound } from '../../support/process.ts';
import { startReceiver } from './receiver.ts';

/** `partner check` and `partner send` as processes: exit codes, output streams, files, and a kill in between. */

let folder: string;
let good: Simulator;
let bad: Simulator;
const secret = 'whsec_for-the-commands-of-the-kit';
const env = { INNBOUND_WEBHOOK_SECRET: secret, PMS_TOKEN: (sampleAuth.bearer as { token: string }).token };

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-commands-'));
  good = await startSimulator({ reservations: 60, untidy: 0, auth: sampleAuth.bearer });
  bad = await startSimulator({ reservations: 60, untidy: 0, faults: [{ kind: 'accepts_missing_dates' }] });
});
after(async () => {
  await good?.stop();
  await bad?.stop();
  await rm(folder, { recursive: true, force: true });
});

const check = (...args: string[]) => {
  const today = good.hotel.today('LIS01');
  return innbound(['partner', 'check', '--from', today, '--to', today, '--interval', '0', ...args], { env });
};

interface Report {
  readonly passed: boolean;
  readonly rules: readonly { readonly id: string; readonly verdict: string }[];
}

test('check: a correct partner passes, with credentials from a file that refers to a variable', async () => {
  const auth = join(folder, 'auth.yaml');
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
  await writeFile(auth, 'type: bearer\ntoken: "${env:PMS_TOKEN}"\n');
  const { code, json, stderr } = await check(good.baseUrl, '--auth', auth, '--json');
  assert.equal(code, 0, stderr);
  const [report, ...more] = json() as unknown as Report[];
  assert.equal(more.length, 0, 'one object');
  assert.equal(report?.passed, true);
  assert.ok(!JSON.stringify(report).includes(env.PMS_TOKEN), 'no secret in the report');
});

test('check: a broken rule exits with 1 and is shown in the terminal and the HTML report', async () => {
  const html = join(folder, 'report.html');
  const { code, stdout, stderr } = await check(bad.baseUrl, '--html', html);
  assert.equal(code, 1);
  assert.match(stdout, /FAIL list\.missing_dates/);
  assert.match(stderr, /Report written to/);
  const page = await readFile(html, 'utf8');
  assert.match(page, /^<!doctype html>/i);
  assert.match(page, /list\.missing_dates/);
});

test('check: wrong arguments are reported, and nothing is requested', async () => {
  const before = JSON.stringify(good.stats);
  const broken = join(folder, 'broken.yaml');
  await writeFile(broken, 'type: bearer\ntoken: [letmein-Zdenka');
  const calls: [string[], RegExp][] = [
    [[], /base URL/],
    [['ftp://pms.example'], /base URL/],
    [[good.baseUrl, '--from', '2026-13-01'], /Expected a date such as/],
    [[good.baseUrl, '--from', '2026-02-02', '--to', '2026-02-01'], /--to is before --from/],
    [[good.baseUrl, '--auth', join(folder, 'nowhere.yaml')], /nowhere\.yaml cannot be read: the file does not exist/],
    [[good.baseUrl, '--auth', broken], /is neither YAML nor JSON\. See line 2/],
  ];
  await Promise.all(
    calls.map(async ([args, says]) => {
      const { code, stdout, stderr } = await check(...args);
      assert.notEqual(code, 0, String(args));
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /letmein|\n {4}at /, 'neither credential nor stack');
      assert.equal(stdout, '');
    }),
  );
  assert.equal(JSON.stringify(good.stats), before);
});

test('check --sender: says where to send, and reports when the user stops it', async () => {
  const child = spawn(bin, ['partner', 'check', '--sender', '--brand', 'LIS01', '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value));
  const target = (await next()) as { url: string; secret: string };
  const sender = await WebhookSender.open({ ...target, brandId: 'LIS01' });
  await sender.send({ event: 'guest.updated', data: { guest_id: 'G1', email: 'a@mail.example' } });
  await sender.close();
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const report = (await next()) as Report;
  assert.equal(report.passed, true);
  const [code] = await ended;
  assert.equal(code, 0);
});

const event = (id: string) =>
  JSON.stringify({
    event: 'reservation.updated',
    event_id: id,
    brand_id: 'LIS01',
    data: { reservation_id: `R-${id}` },
  });

test('send: reads a file or standard input, prints one JSON line per event, exits with 0', async () => {
  const receiver = await startReceiver(secret);
  const to = ['partner', 'send', '--url', receiver.url, '--folder', join(folder, 'sent'), '--json'];
  try {
    const file = join(folder, 'events.ndjson');
    await writeFile(file, `${event('a')}\n${event('b')}\n`);
    const { code, json, stderr } = await innbound([...to, file], { env });
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      json().map(({ kind, eventId, status }) => [kind, eventId, status]),
      [
        ['delivered', 'a', 202],
        ['delivered', 'b', 202],
      ],
    );
    assert.equal((await innbound(to, { env, input: event('c') })).code, 0);
    assert.ok(receiver.received.every(({ signed }) => signed));
    assert.deepEqual(receiver.received.map(({ json: { event_id } }) => event_id).sort(), ['a', 'b', 'c']);
  } finally {
    await receiver.stop();
  }
});

test('send: reports what is missing, without the secret or the content', async () => {
  const url = ['--url', 'http://127.0.0.1:1/webhooks/x'];
  const calls: [string[], string, RegExp][] = [
    [[], event('x'), /--url/],
    [[...url, '--secret-env', 'NOT_SET_ANYWHERE'], event('x'), /NOT_SET_ANYWHERE is empty or not set/],
    [[...url, '--secret-file', 'nowhere'], event('x'), /nowhere cannot be read/],
    [[...url, 'nowhere.json'], '', /nowhere\.json cannot be read/],
    [url, '{"event":"reservation.updated","data":{"name":"Zdenka"}}', /--brand/],
    [url, '{"event": "Zdenka', /Standard input: The input is not JSON/],
  ];
  await Promise.all(
    calls.map(async ([args, input, says]) => {
      const { code, stderr } = await innbound(['partner', 'send', ...args], { env, input, cwd: folder });
      assert.equal(code, 1, stderr);
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /Zdenka|whsec_|\n {4}at /);
    }),
  );
});

test('send: after a kill between two attempts the event is on disk; --list sends nothing, the next call sends it', async () => {
  let status = 503;
  const receiver = await startReceiver(secret, () => ({ status }));
  const letters = join(folder, 'killed');
  const to = ['partner', 'send', '--url', receiver.url, '--folder', letters, '--json'];
  try {
    const child = spawn(bin, to, { env: { ...process.env, ...env }, stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.end(event('killed'));
    await receiver.until((received) => received.length === 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    status = 202;
    const looked = await innbound(['partner', 'send', '--list', '--folder', letters, '--json'], { env });
    assert.deepEqual([looked.code, looked.stdout], [0, '']);
    assert.equal(receiver.received.length, 1);
    assert.equal((await innbound([...to, '--replay'], { env })).code, 0);
    const [first, second] = receiver.received;
    assert.equal(second?.json.event_id, 'killed');
    assert.equal(second?.body, first?.body, 'the same bytes');
    assert.equal(second?.signed, true);
  } finally {
    await receiver.stop();
  }
});

test('send: lists, replays and drops dead letters', async () => {
  let status = 400;
  const receiver = await startReceiver(secret, () => ({ status }));
  const letters = join(folder, 'dead');
  const sender = await WebhookSender.open({
    url: receiver.url,
    secret,
    brandId: 'LIS01',
    folder: letters,
    wait: async () => undefined,
  });
  try {
    for (const id of ['d1', 'd2']) {
      const data = { reservation_id: `R-${id}` };
      assert.equal((await sender.send({ event: 'reservation.updated', event_id: id, data })).kind, 'dead');
    }
    await sender.close();
    const command = (...args: string[]) =>
      innbound(['partner', 'send', '--folder', letters, '--json', ...args], { env, input: '' });
    const listed = (await command('--list')).json().sort((a, b) => (String(a.event_id) < String(b.event_id) ? -1 : 1));
    assert.deepEqual(
      listed.map(({ event_id, attempts }) => [event_id, attempts]),
      [
        ['d1', 5],
        ['d2', 5],
      ],
    );
    const [one, two] = listed.map(({ id }) => String(id));
    assert.equal((await command('--drop', one ?? '')).code, 0);
    assert.equal((await command('--drop', one ?? '')).code, 1);
    assert.equal((await command('--url', receiver.url, '--replay', 'unknown')).code, 1);
    status = 202;
    const replayed = await command('--url', receiver.url, '--replay', two ?? '');
    assert.equal(replayed.code, 0, replayed.stderr);
    assert.equal(replayed.json()[0]?.eventId, 'd2');
    assert.equal((await command('--list')).stdout, '');
  } finally {
    await sender.close();
    await receiver.stop();
  }
});
