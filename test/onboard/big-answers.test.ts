import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { fetchSample } from '../../src/operator/operations/fetch-sample.ts';
import { readSample } from '../../src/operator/operations/read-sample.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { openInBrowser, openSetup, type Setup } from './support.ts';

/** A partner whose list ignores the days: everything it has, in one answer. */
const row = (i: number) => ({
  id: `B${i}`,
  arrival: '2031-05-04',
  departure: '2031-05-08',
  status: 'confirmed',
  price: 1,
  remark: 'x'.repeat(900),
});
const list = `{"reservations":[${Array.from({ length: 10_000 }, (_, i) => JSON.stringify(row(i))).join(',')}]}`;
const exact = list.replace(/"price":[^,]*/, '"price":12345678901234567.25,"note":"VI4111111111111111"');
const deep = `{"a":${'['.repeat(70)}${']'.repeat(70)},"b":"${'x'.repeat(600_000)}"}`;
const wide = `{${Array.from({ length: 40_000 }, (_, i) => `"key ${i}":"${'x'.repeat(120)}"`).join(',')}}`;

let setup: Setup;
let answer = exact;
let hold: Promise<unknown> | undefined;
const api = createServer(async (_, response) => {
  await hold;
  response.setHeader('content-type', 'application/json').end(answer);
});
let base_url: string;
before(async () => {
  setup = await openSetup();
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
after(async () => {
  api.closeAllConnections();
  api.close();
  await setup.stop();
});

async function connected(integration: string) {
  const brand = { brand_id: integration, timezone: 'Europe/Lisbon', deliver: [] };
  const link = await setup.link({ integration, asks: ['pull'], brand });
  const { browser } = await openInBrowser(setup, link);
  const form = {
    base_url: `${base_url}/${integration}`,
    auth: { type: 'none' },
    list: { method: 'GET', path: '/list', from: 'from', to: 'to' },
  };
  assert.equal((await browser.call('POST', '/pull', form)).status, 200);
  return browser;
}

test('a sample of a big answer has the beginning of each list, with every digit and without card numbers', async () => {
  const browser = await connected('big');
  assert.ok(exact.length > 8 * 1024 * 1024);
  const fetched = await fetchSample(setup.service.runtime, 'big' as IntegrationName);
  assert.equal(fetched.kind, 'page');
  if (fetched.kind !== 'page') return;
  const { reservations } = JSON.parse(fetched.sample);
  assert.equal(reservations.length, 200);
  assert.equal(reservations[0].price, '12345678901234567.25');
  assert.equal(reservations[0].note, 'VI[card 1111]');
  const tested = await browser.call('POST', '/test');
  assert.equal(tested.status, 200);
  // The list of one day is not read beyond what one page of a day may have.
  const view = (await browser.call('GET', '')).body;
  assert.match(JSON.stringify(view.checks), /pull\.too_large/);
});

test('an answer that is big without lists, or too deep, is refused with its code', () => {
  for (const [text, code] of [
    [wide, 'pull.too_large'],
    [deep, 'pull.too_deep'],
  ] as const) {
    const read = readSample({ bytes: Buffer.from(text), contentType: 'application/json' });
    assert.equal(read.kind === 'unreadable' && read.code, code);
  }
});

test('one test of a link at a time, and a few of a node', async () => {
  const gate = Promise.withResolvers<void>();
  hold = gate.promise;
  answer = '{"reservations":[]}';
  const browsers = [];
  for (let i = 0; i < 5; i++) browsers.push(await connected(`many-${i}`));
  const [first, ...others] = browsers;
  const waiting: number[] = [];
  const tests = [first, first, ...others].map(async (browser) => {
    const { status } = (await browser?.call('POST', '/test')) ?? assert.fail();
    waiting.push(status);
    return status;
  });
  // The refusals are answered while the others are held.
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(waiting, [503, 503]);
  gate.resolve();
  hold = undefined;
  assert.deepEqual((await Promise.all(tests)).sort(), [200, 200, 200, 200, 503, 503]);
});
