import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checklist, compare } from '../../src/operator/onboard/checklist.ts';
import { noPushFacts, observe, type PullFacts, type PushFacts, type Seen } from '../../src/operator/onboard/facts.ts';
import { bookingIn } from '../../src/operator/operations/sandbox.ts';

const at = Date.UTC(2026, 10, 18, 12);
const seen = (more: Partial<Seen> = {}): Seen => ({
  at,
  eventId: 'e1',
  event: 'reservation.created',
  isAccepted: true,
  isRight: true,
  skewS: 1,
  booking: { id: 'B1', check_in: '2031-05-01', check_out: '2031-05-03', status: 'confirmed' },
  ...more,
});
const after = (...requests: Partial<Seen>[]): PushFacts =>
  requests.reduce((facts: PushFacts, one) => observe(facts, seen(one)).facts, noPushFacts);
const states = (facts: PushFacts, pull?: PullFacts) =>
  Object.fromEntries(
    checklist(pull ? ['push', 'pull'] : ['push'], facts, pull).checks.map(({ id, state }) => [id, state]),
  );

test('nothing is done before anything arrived', () => {
  assert.ok(checklist(['push', 'pull'], noPushFacts, undefined).checks.every(({ state }) => state === 'missing'));
  assert.equal(checklist(['push'], noPushFacts, undefined).isComplete, false);
});

test('a sender that shows everything completes the list; guest.updated is optional', () => {
  const facts = after(
    {},
    { eventId: 'e2', event: 'reservation.updated' },
    { eventId: 'e3', event: 'reservation.cancelled' },
    { eventId: 'e3', event: 'reservation.cancelled' },
  );
  const tested = [0, 5, 20].reduce(
    (before: PushFacts, second) => observe(before, seen({ eventId: 'e9', at: at + second * 1000 })).facts,
    { ...facts, retry: { startedAt: at, attempts: [] } },
  );
  const { checks, isComplete } = checklist(['push'], tested, undefined);
  assert.deepEqual(
    checks.filter(({ state }) => state !== 'done').map(({ id }) => id),
    ['push.guest.updated'],
  );
  assert.equal(isComplete, true);
  assert.deepEqual(checks.find(({ id }) => id === 'push.retry')?.seen, { attempts: 3, delays: '5 s, 15' });
});

test('the test of retries refuses one new event twice, and delays that do not grow are wrong', () => {
  let facts: PushFacts = { ...after({}), retry: { startedAt: at, attempts: [] } };
  const send = (more: Partial<Seen>) => {
    const observed = observe(facts, seen(more));
    facts = observed.facts;
    return observed.answer;
  };
  assert.equal(send({}), 'duplicate', 'a known event is not chosen');
  assert.equal(send({ eventId: 'r', at }), 'fail');
  assert.equal(send({ eventId: 'other' }), 'new', 'other events pass');
  assert.equal(send({ eventId: 'r', at: at + 10_000 }), 'fail');
  assert.equal(states(facts)['push.retry'], 'missing');
  assert.equal(send({ eventId: 'r', at: at + 20_000 }), 'new');
  assert.equal(send({ eventId: 'r', at: at + 30_000 }), 'duplicate');
  assert.equal(states(facts)['push.retry'], 'wrong');
});

test('a request that would be refused counts for nothing but itself', () => {
  const facts = after({ isAccepted: false });
  assert.equal(states(facts)['push.signed'], 'wrong');
  assert.deepEqual({ ...facts, requests: 0, refused: 0 }, noPushFacts);
});

test('an event that becomes no record is wrong until one does', () => {
  assert.equal(states(after({ isRight: false }))['push.reservation.created'], 'wrong');
  assert.equal(states(after({ isRight: false }, { eventId: 'e2' }))['push.reservation.created'], 'done');
});

test('the facts stay small, whatever arrives', () => {
  const anySeen = fc.record({
    at: fc.integer({ min: 0, max: 1e13 }),
    eventId: fc.string({ maxLength: 5 }),
    event: fc.constantFrom('reservation.created', 'guest.updated', undefined),
    isAccepted: fc.boolean(),
    isRight: fc.boolean(),
    skewS: fc.option(fc.integer(), { nil: undefined }),
    booking: fc.option(fc.record({ id: fc.string({ maxLength: 3 }) }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(anySeen, { maxLength: 200 }), (all) => {
      const facts = all.reduce((before: PushFacts, one) => observe(before, one).facts, noPushFacts);
      assert.equal(facts.requests, all.length);
      assert.ok(facts.bookings.length <= 200 && facts.eventIds.length <= 500 && facts.skews.length <= 20);
      assert.deepEqual(JSON.parse(JSON.stringify(facts)), JSON.parse(JSON.stringify(facts)));
      checklist(['push'], facts, undefined);
    }),
  );
});

const tested: PullFacts = {
  testedAt: at,
  settings: '',
  isComplete: true,
  bookings: 40,
  pages: 2,
  unreadable: 0,
  unknown: [],
  isShort: false,
  missing: [],
  shared: 1,
  differing: [],
};

test('each fault of an API has its own line', () => {
  const wrong = (more: Partial<PullFacts>) =>
    Object.entries(states(noPushFacts, { ...tested, ...more }))
      .filter(([id, state]) => !id.startsWith('push.') && state === 'wrong')
      .map(([id]) => id);
  assert.deepEqual(wrong({}), []);
  assert.deepEqual(wrong({ failure: 'pull.timeout' }), ['pull.answers']);
  assert.deepEqual(wrong({ isComplete: false }), ['pull.complete']);
  assert.deepEqual(wrong({ isShort: true }), ['pull.bounds']);
  assert.deepEqual(wrong({ unreadable: 3 }), ['pull.readable']);
  assert.deepEqual(wrong({ unknown: ['CF'] }), ['pull.status']);
  assert.deepEqual(wrong({ missing: ['check_in'] }), ['pull.fields']);
  assert.deepEqual(wrong({ rooms: 10 }), ['pull.volume']);
  assert.deepEqual(wrong({ differing: ['B1'] }), ['both.agree']);
});

test('a list without a booking has shown nothing but that it answers, and the list is as long at every time', () => {
  const of = (pull?: PullFacts) => checklist(['push', 'pull'], noPushFacts, pull).checks;
  const empty = of({ ...tested, bookings: 0, shared: 0 });
  assert.deepEqual(
    empty.filter(({ state }) => state !== 'missing').map(({ id }) => id),
    ['pull.answers'],
  );
  const rule = (id: string) => ({ id, outcome: 'pass' as const, title: '', seen: '' });
  const ids = of(undefined).map(({ id }) => id);
  for (const pull of [
    { ...tested, bookings: 0 },
    { ...tested, failure: 'pull.timeout' },
    tested,
    { ...tested, check: { requests: 0 } },
    { ...tested, check: { requests: 9, rules: [rule('paging.once')] } },
  ])
    assert.deepEqual(
      of(pull).map(({ id }) => id),
      ids,
    );
});

test('a guest who cannot be written to is told, and does not keep a brand from going live', () => {
  const { checks } = checklist(['pull'], noPushFacts, { ...tested, missing: ['guests.phone'] });
  const contact = checks.find(({ id }) => id === 'pull.contact');
  assert.deepEqual(contact, { id: 'pull.contact', state: 'wrong', seen: { fields: 'guests.phone' }, isOptional: true });
  assert.equal(checks.find(({ id }) => id === 'pull.fields')?.state, 'done');
});

test('list and events that differ in the guest, the address or the room do not say the same', () => {
  const of = (more: object) =>
    bookingIn({
      id: 'A',
      check_in: '2031-01-01',
      guests: [{ last_name: 'Duarte', email: 'ines@letters.example' }],
      rooms: [{ room_type: 'DBL' }],
      ...more,
    }) ?? assert.fail();
  const one = { ...of({}), events: [] };
  assert.doesNotMatch(JSON.stringify(one), /Duarte|ines|DBL/, 'nothing of the guest is kept');
  assert.deepEqual(compare([one], [of({})]).differing, []);
  const other = of({ guests: [{ last_name: 'Reis', email: 'tomas@letters.example' }], rooms: [{ room_type: 'SGL' }] });
  assert.deepEqual(compare([one], [other]).differing, ['A guest', 'A email', 'A rooms']);
});

test('list and events are compared by the bookings that both name', () => {
  const events = [
    { id: 'A', events: [], check_in: '2031-01-01', status: 'confirmed' },
    { id: 'B', events: [], check_in: '2031-01-01', status: 'confirmed' },
    { id: 'C', events: [] },
  ];
  const list = [
    { id: 'A', check_in: '2031-01-01', status: 'confirmed' },
    { id: 'B', check_in: '2031-01-02', status: 'confirmed' },
  ];
  assert.deepEqual(compare(events, list), {
    shared: 2,
    differing: ['B check_in: 2031-01-01 ≠ 2031-01-02'],
  });
});

test('rules of which nothing was seen are not kept', () => {
  const rule = (id: string, outcome: 'pass' | 'fail' = 'pass') => ({ id, outcome, title: '', seen: '' });
  const checked = (...rules: ReturnType<typeof rule>[]) =>
    checklist(['pull'], noPushFacts, { ...tested, check: { requests: 9, rules } }).checks.filter(({ id }) =>
      /^pull\.(paging|dates|errors)$/.test(id),
    );
  assert.deepEqual(checked(rule('paging.once'), rule('answers.json')), [
    { id: 'pull.paging', state: 'missing', seen: { rules: '' }, isOptional: true },
    { id: 'pull.dates', state: 'missing', seen: { rules: '' }, isOptional: true },
    { id: 'pull.errors', state: 'done', seen: { rules: '' }, isOptional: true },
  ]);
  assert.partialDeepStrictEqual(checked(rule('paging.once'), rule('paging.advances')), [{ state: 'done' }]);
  assert.partialDeepStrictEqual(checked(rule('paging.once', 'fail')), [
    { state: 'wrong', seen: { rules: 'paging.once' } },
  ]);
});
