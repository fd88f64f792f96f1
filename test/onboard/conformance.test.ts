import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkConformance } from '../../src/operator/operations/conformance.ts';
import { editOrThrow } from '../../src/operator/operations/onboarding.ts';
import { openInBrowser, openSetup, type Setup } from './support.ts';
import { type Faults, startUnseenSystem } from './unseen-system.ts';

let setup: Setup;
before(async () => {
  setup = await openSetup();
});
after(() => setup.stop());

const list = { method: 'GET', path: '/v2/bookings', from: 'arrivalFrom', to: 'arrivalTo' };

/** A partner whose API makes these mistakes, after its test and its check. */
async function checked(name: string, faults: Faults, edit: (name: string) => Promise<void> = async () => {}) {
  const system = await startUnseenSystem(faults);
  try {
    const brand = { brand_id: name, timezone: 'Europe/Lisbon', deliver: [] };
    const { browser } = await openInBrowser(setup, await setup.link({ integration: name, asks: ['pull'], brand }));
    const auth = { type: 'bearer', token: system.token };
    await browser.call('POST', '/pull', { base_url: system.url, auth, list });
    const { body } = await browser.call('POST', '/test');
    assert.equal(body.failure, undefined);
    await edit(name);
    const before = (await browser.call('GET', '')).body;
    const asked = system.requests.length;
    assert.equal((await browser.call('POST', '/check')).status, 200);
    const { checks, pull, is_complete } = (await browser.call('GET', '')).body;
    const state = (id: string, of = checks) => of.find((one: { id: string }) => one.id === id)?.state;
    return {
      before,
      state,
      rules: pull.check.rules,
      check: pull.check,
      is_complete,
      requests: system.requests.slice(asked),
      token: system.token,
    };
  } finally {
    await system.stop();
  }
}

test('an API that keeps the rules is checked with its own names, and the checklist says so', async () => {
  const { before, state, check, is_complete, requests, token } = await checked('good-hotel', {});
  assert.deepEqual(before.pull.check, { requests: 0 });
  assert.equal(state('pull.paging', before.checks), 'missing');
  assert.equal(before.is_complete, false);
  for (const id of ['pull.paging', 'pull.dates', 'pull.errors']) assert.equal(state(id), 'done', id);
  assert.equal(is_complete, true);
  const passed = check.rules.filter(({ outcome }: { outcome: string }) => outcome === 'pass');
  assert.deepEqual(
    check.rules.filter((one: object) => !passed.includes(one)),
    [],
  );
  for (const id of [
    'list.range',
    'list.missing_dates',
    'paging.advances',
    'paging.ends',
    'paging.once',
    'paging.total',
  ])
    assert.ok(
      passed.some((one: { id: string }) => one.id === id),
      id,
    );
  assert.equal(check.requests, requests.length);
  assert.ok(requests.length <= 30);
  assert.ok(requests.every(({ url }) => url.startsWith('/v2/bookings?') && !url.includes('dateFrom')));
  const text = JSON.stringify(check);
  for (const hidden of [token, 'Duarte', 'letters.example', 'HB-10'])
    assert.equal(text.includes(hidden), false, hidden);
});

test('pages that repeat keep the partner from being ready; the verdict has the request that shows it', async () => {
  const { state, rules, is_complete } = await checked('repeating-hotel', { repeats: true });
  assert.equal(state('pull.paging'), 'wrong');
  assert.equal(is_complete, false);
  const [verdict] = rules.filter(({ outcome }: { outcome: string }) => outcome === 'fail');
  assert.equal(verdict.id, 'paging.advances');
  assert.match(verdict.asked, /^GET http:.*\/v2\/bookings\?.*cursor=20/);
  assert.equal(verdict.status, 200);
});

test('wrong dates that are accepted are named, and do not keep the partner from being ready', async () => {
  const { state, rules, is_complete } = await checked('lenient-hotel', { anyDates: true });
  assert.equal(state('pull.dates'), 'wrong');
  assert.equal(is_complete, true);
  assert.deepEqual(
    rules.flatMap(({ id, outcome }: Record<string, string>) => (outcome === 'fail' ? [id] : [])),
    ['list.missing_dates', 'list.malformed_dates'],
  );
});

test('the check keeps the rate of the brand', async () => {
  const { requests } = await checked('slow-hotel', {}, (name) =>
    editOrThrow(setup.service.runtime, 'integration', name, 'Ada', (yaml) =>
      yaml.setIn(['pull', 'rate'], yaml.createNode({ requests: 1, per: '1s', burst: 1 })),
    ),
  );
  const seconds = ((requests.at(-1)?.at ?? 0) - (requests[0]?.at ?? 0)) / 1000;
  assert.ok(seconds >= requests.length - 2, `${requests.length} requests in ${seconds} s`);
});

test('a check whose page is closed ends early and can be made again', async () => {
  const system = await startUnseenSystem();
  try {
    const brand = { brand_id: 'LEFT01', timezone: 'Europe/Lisbon', deliver: [] };
    const link = await setup.link({ integration: 'left-hotel', asks: ['pull'], brand });
    const { browser } = await openInBrowser(setup, link);
    await browser.call('POST', '/pull', { base_url: system.url, auth: { type: 'bearer', token: system.token }, list });
    await browser.call('POST', '/test');
    const leaving = new AbortController();
    const leave = async (count: number) => (count === 3 ? leaving.abort() : undefined);
    const name = 'left-hotel' as Parameters<typeof checkConformance>[1];
    assert.equal(
      await checkConformance(setup.service.runtime, name, leave, leaving.signal),
      undefined,
      'no half verdict',
    );
    assert.equal((await browser.call('POST', '/check')).status, 200);
    assert.ok((await browser.call('GET', '')).body.pull.check.rules.length > 5);
  } finally {
    await system.stop();
  }
});
