import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeRecord, type Reservation } from '../../src/core/canonical/reservation.ts';
import { compileFields, type MessageData } from '../../src/core/deliver/message.ts';
import type { Claimed, Selection } from '../../src/core/deliver/ports.ts';
import { select } from '../../src/core/deliver/select.ts';
import { config, lane, reservation } from './support.ts';

const all: Selection = { receives: ['reservation'], fields: compileFields({}) };

/** `given` is the versions delivered before: one, or several, newest first. */
function claimed(
  record: Reservation,
  given: Reservation | readonly Reservation[] = [],
  change: Partial<Claimed> = {},
): Claimed {
  const earlier = [given].flat() as readonly Reservation[];
  return {
    type: 'reservation',
    id: record.id,
    version: earlier.length + 1,
    deliveredVersion: earlier.length,
    triesUsed: 0,
    fence: 1,
    interrupted: false,
    change: { event: 'updated', idempotencyKey: 'k', at: 0, record: () => record },
    deliveredDataTexts: earlier.map((one) => encodeRecord(one)),
    ...change,
  };
}

function told(selection: Selection, one: Claimed): MessageData | string {
  const chosen = select(lane(config('crm', { selection })), one);
  if (chosen.kind !== 'send') return chosen.code;
  const { event, data } = chosen.message;
  if (event !== 'removed' || Object.keys(data).length > 1) return data;
  return 'removed';
}

test('the message is the envelope of the interface', () => {
  const chosen = select(lane(config('crm', { selection: all })), claimed(reservation('r')));
  assert.ok(chosen.kind === 'send');
  assert.deepEqual(Object.keys(chosen.message), [
    'type',
    'integration',
    'brand_id',
    'event',
    'version',
    'idempotency_key',
    'data',
  ]);
});

test('test data stays home, and a withdrawal of it still goes out', () => {
  const tester = { first_name: 'Test', last_name: 'Test', email: 'desk@hotel.example', marketing_consent: true };
  const ana = { first_name: 'Ana', email: 'ana@guests.example', marketing_consent: true };
  const of = (...guests: object[]) => reservation('r', { guests });
  const marketing: Selection = { ...all, consent: 'marketing', leavesOutTests: true };
  assert.equal(told(marketing, claimed(of(tester))), 'test_data');
  assert.equal(told({ ...all, leavesOutTests: true }, claimed(of(tester))), 'test_data');
  assert.deepEqual((told(marketing, claimed(of(tester, ana))) as MessageData).guests, [ana]);
  assert.deepEqual((told({ ...all, consent: 'marketing' }, claimed(of(tester))) as MessageData).guests, [tester]);
  assert.equal(told(marketing, claimed(of(tester), of(tester))), 'removed');
  const left = told(marketing, claimed(of({ ...tester, marketing_consent: false }), of(tester))) as MessageData;
  assert.deepEqual(left.guests, [{ email: tester.email, marketing_consent: false }]);
});

test('types that a destination does not receive and versions no longer stored are skipped', () => {
  assert.equal(told({ ...all, receives: ['guest'] }, claimed(reservation('r'))), 'not_received');
  const { change: _, ...gone } = claimed(reservation('r'));
  assert.equal(told(all, gone), 'version_gone');
});

test('a record that the destination has, or may have, is removed; one that it never had is not mentioned', () => {
  const [before, now] = [reservation('r'), reservation('r', { status: 'cancelled' })];
  const filtered: Selection = { ...all, filter: () => false };
  const dropped = { event: 'removed', idempotencyKey: 'k', at: 0, record: () => now } as const;
  const leaving = { ...lane(config('crm', { selection: all })), isLeaving: true };
  const ways: [string, (one: Claimed) => ReturnType<typeof select>][] = [
    ['filtered', (one) => select(lane(config('crm', { selection: filtered })), one)],
    ['not_received', (one) => select(lane(config('crm', { selection: { ...all, receives: ['guest'] } })), one)],
    ['removed', (one) => select(lane(config('crm', { selection: all })), { ...one, change: dropped })],
    ['brand_left', (one) => select(leaving, one)],
  ];
  for (const [code, chosenFor] of ways) {
    for (const has of [
      claimed(now, before),
      claimed(now, [], { triesUsed: 1 }),
      claimed(now, [], { interrupted: true }),
    ]) {
      const chosen = chosenFor(has);
      assert.ok(chosen.kind === 'send', code);
      const { event, removed, data, idempotency_key: key } = chosen.message;
      assert.deepEqual([event, removed, data, chosen.leaves], ['removed', true, { id: 'r' }, 'removed']);
      // The version itself may follow under its own key, if the record comes back.
      assert.equal(key, code === 'removed' ? 'k' : 'k-removed');
    }
    for (const hasNot of [claimed(now), claimed(now, before, { isRemoved: true })]) {
      const chosen = chosenFor(hasNot);
      assert.deepEqual([chosen.kind, chosen.kind === 'skip' && chosen.code], ['skip', code]);
    }
  }
});

test('fields are chosen and dropped at every level; the id stays', () => {
  const only = compileFields({
    only: ['check_in', 'guests[].email', 'guests[].first_name'],
    drop: ['guests[].first_name'],
  });
  assert.deepEqual(told({ ...all, fields: only }, claimed(reservation('r'))), {
    id: 'r',
    check_in: '2026-12-01',
    guests: [{ email: 'r@guests.example' }],
  });
  const drop = compileFields({ drop: ['guests', 'charges', 'extra.secret', 'id'] });
  const data = told(
    { ...all, fields: drop },
    claimed(reservation('r', { extra: { secret: 1, open: 2 } })),
  ) as MessageData;
  assert.deepEqual([data.id, data.guests, data.charges, data.extra], ['r', undefined, undefined, { open: 2 }]);
});

test('paths of guests[] apply to guest records too', () => {
  const guest = { id: 'g', first_name: 'Ana', email: 'ana@guests.example', phone: '+351912345678' };
  const only = compileFields({ only: ['check_in', 'guests[].email'] });
  assert.deepEqual(only('guest', guest), { id: 'g', email: 'ana@guests.example' });
  assert.deepEqual(compileFields({ drop: ['guests[].phone', 'check_in'] })('guest', guest), {
    id: 'g',
    first_name: 'Ana',
    email: 'ana@guests.example',
  });
  assert.deepEqual(compileFields({ only: ['check_in'] })('guest', guest), { id: 'g' });
});

test('a filter that fails makes a dead letter, one that does not match a skip', () => {
  const filter = (matches: boolean) => ({ ...all, filter: () => matches });
  assert.equal(told(filter(false), claimed(reservation('r'))), 'filtered');
  assert.equal(typeof told(filter(true), claimed(reservation('r'))), 'object');
  const failing: Selection = { ...all, filter: () => ({ message: 'no such key' }) };
  assert.equal(told(failing, claimed(reservation('r'))), 'deliver.filter_failed');
});

const marketing: Selection = { ...all, consent: 'marketing' };
const ana = {
  guest_id: 'a',
  first_name: 'Ana',
  last_name: 'Exemplo',
  email: 'ana@guests.example',
  phone: '+351912345678',
};
const rui = { guest_id: 'b', first_name: 'Rui', last_name: 'Modelo', email: 'rui@guests.example' };
const yes = { marketing_consent: true };
const no = { marketing_consent: false };

test('consent: only consenting guests, and nothing at all without one', () => {
  const mixed = told(
    marketing,
    claimed(
      reservation('r', {
        guests: [
          { ...ana, ...yes },
          { ...rui, ...no },
        ],
      }),
    ),
  );
  assert.deepEqual((mixed as MessageData).guests, [{ ...ana, ...yes }]);
  assert.equal(told(marketing, claimed(reservation('r', { guests: [rui] }))), 'no_consent');
  assert.equal(told(marketing, claimed(reservation('r', { guests: [] }))), 'no_consent');
});

test('consent: a withdrawal holds the identifiers that the destination knows, and nothing else', () => {
  const before = reservation('r', {
    guests: [
      { ...ana, ...yes },
      { ...rui, ...yes },
    ],
  });
  const moved = { ...ana, email: 'new@guests.example', ...no };
  const one = told(
    marketing,
    claimed(reservation('r', { guests: [moved, { ...rui, ...yes }] }), before),
  ) as MessageData;
  assert.deepEqual(one.guests, [
    { ...rui, ...yes },
    { guest_id: 'a', email: 'ana@guests.example', phone: '+351912345678', marketing_consent: false },
  ]);
  const both = told(
    marketing,
    claimed(reservation('r', { guests: [moved, { ...rui, ...no }] }), before),
  ) as MessageData;
  assert.equal(both.guests?.length, 2);
  assert.equal(both.total_amount, undefined);
  assert.deepEqual(both.charges, []);
});

test('consent: a withdrawal is sent whatever the filter says; leaving the booking is not a withdrawal', () => {
  const before = reservation('r', { guests: [{ ...ana, ...yes }] });
  const strict: Selection = { ...marketing, filter: () => false };
  assert.equal(typeof told(strict, claimed(reservation('r', { guests: [{ ...ana, ...no }] }), before)), 'object');
  assert.equal(told(marketing, claimed(reservation('r', { guests: [rui] }), before)), 'removed');
});

test('consent: a filter passes over a booking, but not over the withdrawal of one of its guests', () => {
  const [agrees, withdraws] = [
    { ...rui, ...yes },
    { ...ana, ...no },
  ];
  const before = reservation('r', { guests: [{ ...ana, ...yes }, agrees] });
  const now = reservation('r', { guests: [withdraws, agrees], status: 'cancelled' });
  const only = { guest_id: 'a', email: 'ana@guests.example', phone: '+351912345678', ...no };
  const never = () => false;
  // Also where the destination gets everybody, and is notified of changes of consent.
  for (const selection of [
    { ...marketing, comparesConsent: true },
    { ...all, comparesConsent: true },
  ]) {
    const chosen = select(lane(config('crm', { selection: { ...selection, filter: never } })), claimed(now, before));
    assert.ok(chosen.kind === 'send' && chosen.onlyWithdrawals, JSON.stringify(chosen));
    assert.deepEqual(chosen.message.data.guests, [only]);
  }
  const whole = told({ ...marketing, filter: never }, claimed(now, before)) as MessageData;
  assert.deepEqual([whole.guests, whole.rooms], [[agrees, only], now.rooms], 'a warehouse keeps the others');
  const unchanged = reservation('r', { guests: before.guests, status: 'cancelled' });
  assert.equal(told({ ...all, comparesConsent: true, filter: never }, claimed(unchanged, before)), 'removed');
  assert.equal(told({ ...all, filter: never }, claimed(now, before)), 'removed');
});

test('consent: unknown is not a withdrawal, and a later no still is one', () => {
  const agreed = reservation('r', { guests: [{ ...ana, ...yes }] });
  const unknown = reservation('r', { guests: [ana] });
  const refused = reservation('r', { guests: [{ ...ana, ...no }] });
  assert.equal(told(marketing, claimed(unknown, agreed)), 'removed');
  const withRui = reservation('r', { guests: [ana, { ...rui, ...yes }] });
  assert.deepEqual((told(marketing, claimed(withRui, agreed)) as MessageData).guests, [{ ...rui, ...yes }]);
  // Delivered because of Rui, while Ana's consent was unknown: her last stated one was yes.
  const after = told(marketing, claimed(refused, [withRui, agreed])) as MessageData;
  assert.deepEqual(after.guests, [
    { guest_id: 'a', email: 'ana@guests.example', phone: '+351912345678', marketing_consent: false },
  ]);
  // Stated already, or never agreed: there is nothing to withdraw.
  const isRemoved = true;
  assert.equal(told(marketing, claimed(refused, [refused, agreed], { isRemoved })), 'no_consent');
  assert.equal(told(marketing, claimed(refused, unknown, { isRemoved })), 'no_consent');
  const isPruned = { version: 6, deliveredVersion: 5 };
  assert.equal(typeof told(marketing, claimed(refused, unknown, isPruned)), 'object', 'older versions may have agreed');
});

test('consent: a guest record with unknown consent is neither sent nor withdrawn', () => {
  const profile = (consent: object, earlier: readonly object[]): Claimed => ({
    ...claimed(reservation('g')),
    type: 'guest',
    change: { event: 'updated', idempotencyKey: 'k', at: 0, record: () => ({ ...ana, ...consent }) },
    deliveredDataTexts: earlier.map((one) => JSON.stringify({ ...ana, ...one })),
  });
  const guests: Selection = { ...marketing, receives: ['guest'] };
  assert.equal(told(guests, profile({}, [yes])), 'no_consent');
  assert.equal(told(guests, profile(no, [{}])), 'no_consent');
  assert.equal((told(guests, profile(no, [{}, yes])) as MessageData).marketing_consent, false);
});

test('consent: the withdrawal of a merged profile, which has no address, names the one that the destination knows', () => {
  const merged = { extra: { merged_into: 'gst_2' } };
  const one: Claimed = {
    ...claimed(reservation('g')),
    type: 'guest',
    change: { event: 'updated', idempotencyKey: 'k', at: 0, record: () => ({ ...merged, ...no }) },
    deliveredDataTexts: [merged, { ...ana, ...yes }].map((earlier) => JSON.stringify(earlier)),
  };
  const { guest_id, email, phone } = ana;
  const withdrawal = { id: 'g', guest_id, email, phone, marketing_consent: false };
  assert.deepEqual(told({ ...marketing, receives: ['guest'] }, one), withdrawal);
  const comparing: Selection = { ...all, receives: ['guest'], comparesConsent: true };
  assert.deepEqual(told(comparing, one), { ...withdrawal, ...merged });
  assert.deepEqual(told({ ...all, receives: ['guest'] }, { ...one, deliveredDataTexts: [] }), {
    id: 'g',
    ...merged,
    ...no,
  });
});

test('consent: a change is reported against the last stated one', () => {
  const change = (now: object, ...before: object[]) => {
    const guests = (state: object) => reservation('r', { guests: [{ ...ana, ...state }] });
    const chosen = select(
      lane(config('crm', { selection: { ...all, comparesConsent: true } })),
      claimed(guests(now), before.map(guests)),
    );
    return chosen.kind === 'send' && chosen.compared?.consentChange({ ...ana, ...now });
  };
  assert.equal(change(yes), 'first');
  assert.equal(change(yes, yes), undefined);
  assert.equal(change(yes, {}, yes), undefined);
  assert.equal(change(yes, {}), 'given');
  assert.equal(change(yes, no, yes), 'given');
  assert.equal(change(no, {}, yes), 'withdrawn');
  assert.equal(change(no), undefined);
  assert.equal(change({}, yes), undefined);
});

test('consent: dropped fields stay dropped in a withdrawal, and its mark stays whatever is dropped', () => {
  const fields = compileFields({ drop: ['guests[].email', 'guests[].marketing_consent'] });
  const before = reservation('r', { guests: [{ ...ana, ...yes }] });
  const data = told(
    { ...marketing, fields },
    claimed(reservation('r', { guests: [{ ...ana, ...no }] }), before),
  ) as MessageData;
  assert.deepEqual(data.guests, [{ guest_id: 'a', phone: '+351912345678', marketing_consent: false }]);
  const plain = told({ ...all, fields }, claimed(reservation('r', { guests: [{ ...rui, ...no }] }))) as MessageData;
  assert.deepEqual(plain.guests, [{ guest_id: 'b', first_name: 'Rui', last_name: 'Modelo' }]);
});

test('an erasure sends nothing of guests who did not agree, and no dropped fields', () => {
  const left = reservation('r', {
    guests: [
      { ...rui, ...yes },
      { first_name: 'Eva', ...no },
    ],
  });
  const change = { event: 'erased' as const, idempotencyKey: 'k', at: 0, record: () => left };
  const fields = compileFields({ drop: ['guests[].email'] });
  const data = told({ ...marketing, fields }, claimed(left, reservation('r'), { change })) as MessageData;
  assert.deepEqual(data.guests, [{ guest_id: 'b', first_name: 'Rui', last_name: 'Modelo', marketing_consent: true }]);
});

test('an erasure goes to every destination that may know the record, past filter and fields', () => {
  const change = {
    event: 'erased' as const,
    idempotencyKey: 'k',
    at: 0,
    record: () => reservation('r', { guests: [] }),
    erased: [ana],
  };
  const strict: Selection = { ...marketing, filter: () => false };
  assert.equal(told(strict, claimed(reservation('r'), undefined, { change })), 'no_consent');
  assert.equal(typeof told(strict, claimed(reservation('r'), reservation('r'), { change })), 'object');
  assert.equal(typeof told(strict, claimed(reservation('r'), undefined, { change, interrupted: true })), 'object');
  assert.equal(
    typeof told({ ...all, filter: () => false }, claimed(reservation('r'), undefined, { change })),
    'object',
  );
});

test('an erasure that was confirmed and forgotten is a version like any other, except for those who missed it', () => {
  const left = reservation('r', { guests: [{}, rui] });
  const change = { event: 'erased' as const, idempotencyKey: 'k', at: 0, record: () => left };
  const eventOf = (earlier: readonly Reservation[], more: Partial<Claimed> = {}) => {
    const chosen = select(lane(config('crm', { selection: all })), claimed(left, earlier, { change, ...more }));
    return chosen.kind === 'send' ? chosen.message.event : chosen.kind;
  };
  assert.equal(eventOf([left, left], { version: 2 }), 'updated', 'a resend');
  assert.equal(eventOf([]), 'updated', 'a new destination');
  assert.equal(eventOf([left]), 'erased', 'it has an older version');
  assert.equal(eventOf([], { triesUsed: 1 }), 'updated', 'a new destination, after a failed try');
  assert.equal(eventOf([], { droppedDataTexts: [encodeRecord(left)] }), 'erased', 'it may have an older version');
  const cancelled = { ...change, record: () => ({ ...left, status: 'cancelled' as const }) };
  assert.equal(eventOf([], { change: cancelled }), 'cancelled');
});

test('earlier versions are cut like the message: dropped fields and guests without consent are not in them', () => {
  const yes = { email: 'ana@guests.example', phone: '+351911111111', marketing_consent: true };
  const no = { email: 'rui@guests.example' };
  const fields = compileFields({ drop: ['guests[].phone', 'total_amount'] });
  const seen = (consent?: 'marketing') => {
    const selection = {
      receives: ['reservation' as const],
      comparesConsent: true,
      fields,
      ...(consent && { consent }),
    };
    const record = reservation('r', { guests: [yes, no] });
    const selected = select(lane(config('crm', { selection })), claimed(record, record));
    assert.equal(selected.kind, 'send');
    const [version] = selected.kind === 'send' ? (selected.compared?.earlier() ?? []) : [];
    assert.equal(version?.total_amount, undefined);
    return version?.guests;
  };
  const { phone: _, ...chosen } = yes;
  assert.deepEqual(seen(), [chosen, no]);
  assert.deepEqual(seen('marketing'), [chosen]);
});

test('a withdrawal is sent even if the versions that the destination has are past their retention', () => {
  const guest = { email: 'r@guests.example', phone: '+351912345678' };
  const record = reservation('r', { guests: [{ ...guest, last_name: 'Exemplo', marketing_consent: false }] });
  const marketing: Selection = { ...all, consent: 'marketing' };
  const data = told(marketing, claimed(record, [], { version: 3, deliveredVersion: 2 })) as MessageData;
  assert.deepEqual(data.guests, [{ ...guest, marketing_consent: false }]);
  assert.equal(told(marketing, claimed(record)), 'no_consent', 'it never had the record');
});
