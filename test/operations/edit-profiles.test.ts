import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { exportGuest } from '../../src/operator/operations/export-guest.ts';
import type { IntegrationName, JsonObject } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode('', {
    'destinations/stays.yaml':
      'destination: stays\ntype: files\npath: stays\nreceives: [reservation]\nconsent: marketing\n',
    'destinations/news.yaml': 'destination: news\ntype: files\npath: news\nreceives: [guest]\nconsent: marketing\n',
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
push: { enabled: true }
deliver: [lake, news, stays]
`,
  });
  operator = await node.token('operator', ['grand']);
});
after(() => node.stop());

/** Stores bookings, one after the other, each with one guest, and updates the profiles. */
async function book(...guests: Guest[]): Promise<void> {
  for (const guest of guests) {
    booked += 1;
    const stay = { check_in: '2099-12-01', check_out: '2099-12-04' };
    await node.take('grand', reservation(`b-${booked}`, { ...stay, guests: [guest as JsonObject] }));
    await deliver();
  }
}
let booked = 0;

async function deliver(): Promise<void> {
  await drainOnce(await deliverPorts(node.runtime), { integration: 'grand' as IntegrationName });
}

/** The consent of each address of these people, as the marketing destination knows it. */
async function subscribed(lastName: string, where = 'news'): Promise<Record<string, boolean | undefined>> {
  await deliver();
  const found = await Array.fromAsync(glob(path.join(node.runtime.workspaceDir, where, '*', '*.ndjson')));
  const texts = await Promise.all(found.sort().map((file) => readFile(file, 'utf8')));
  const lines = texts.flatMap((text) => text.trimEnd().split('\n')).map((line) => JSON.parse(line));
  const known = new Map<string, boolean | undefined>();
  for (const { email, marketing_consent } of lines.flatMap(({ data }) => data.guests ?? [data])) {
    if (String(email).includes(lastName)) known.set(email, marketing_consent);
  }
  return Object.fromEntries(known);
}

/** The profile that holds these values. */
async function profile(where: Partial<Guest>): Promise<{ id: string; guest: Guest } | undefined> {
  const { rows } = await node.runtime.pool.query<{ id: string; data: Guest }>(
    `select id, data from records where integration = 'grand' and type = 'guest' and data::jsonb @> $1::jsonb`,
    [JSON.stringify(where)],
  );
  assert.ok(rows.length <= 1, 'more than one profile');
  return rows[0] && { id: rows[0].id, guest: rows[0].data };
}

async function idOf(where: Partial<Guest>): Promise<string> {
  const found = await profile(where);
  assert.ok(found, JSON.stringify(where));
  return found.id;
}

const decide = (id: string, what: 'merge' | 'split', body: object) =>
  node.call('POST', `/integrations/grand/guests/${id}/${what}`, operator, body as never);

test('a merged profile gets the values that it lacked, and the old address leads to it from then on', async () => {
  const maiden = { first_name: 'Ines', last_name: 'Antiga', email: 'ines.antiga@mail.example', nationality: 'PT' };
  const married = { first_name: 'Ines', last_name: 'Nova', email: 'ines.nova@mail.example' };
  await book(maiden, married);
  const [from, into] = [await idOf({ email: maiden.email }), await idOf({ email: married.email })];
  const merged = await decide(from, 'merge', { into });
  assert.equal(merged.status, 200, JSON.stringify(merged.body));
  assert.deepEqual((await profile({ email: married.email }))?.guest, { ...married, nationality: 'PT' });
  assert.deepEqual((await profile({ extra: { merged_into: into } }))?.id, from);
  await book({ first_name: 'Ines', last_name: 'Antiga', email: maiden.email, phone: '+351912000111' });
  const now = await profile({ phone: '+351912000111' });
  assert.equal(now?.id, into, 'a later booking with the old address belongs to the merged profile');
  const { body } = await node.call('GET', `/integrations/grand/guests/${into}`, operator);
  assert.match(JSON.stringify(body.timeline), /An operator merged profile/);
  const audit = await node.call('GET', '/audit', await node.token('admin'));
  assert.ok(audit.body.items.some(({ action }: { action: string }) => action === 'guests.merge'));
});

test('a merge can be undone: both profiles are as before, and bookings match their own again', async () => {
  const one = { first_name: 'Rui', last_name: 'Um', email: 'rui.um@mail.example', nationality: 'PT' };
  const two = { first_name: 'Rui', last_name: 'Dois', email: 'rui.dois@mail.example' };
  await book(one, two);
  const [from, into] = [await idOf({ email: one.email }), await idOf({ email: two.email })];
  await decide(from, 'merge', { into });
  const taken = await decide(into, 'split', { merged: from });
  assert.equal(taken.status, 200, JSON.stringify(taken.body));
  assert.deepEqual((await profile({ email: one.email }))?.guest, one);
  assert.deepEqual((await profile({ email: two.email }))?.guest, two, 'it lost what only the other had');
  await book({ ...one, phone: '+351912000222' });
  assert.equal((await profile({ phone: '+351912000222' }))?.id, from);
});

test('a phone that two people share is split off, and stays with the new profile', async () => {
  const mother = { first_name: 'Eva', last_name: 'Maior', email: 'eva@mail.example', phone: '+351912000333' };
  const daughter = { phone: mother.phone, nationality: 'BR' };
  await book(mother, daughter);
  const id = await idOf({ email: mother.email });
  const split = await decide(id, 'split', { fields: ['phone'] });
  assert.equal(split.status, 200, JSON.stringify(split.body));
  const { phone: _, ...without } = mother;
  assert.deepEqual((await profile({ email: mother.email }))?.guest, without);
  assert.deepEqual((await profile({ phone: mother.phone }))?.guest, daughter);
  await book(mother);
  assert.deepEqual((await profile({ email: mother.email }))?.guest, without, 'the same booking does not bring it back');
});

test('after merges, a withdrawal of consent reaches the addresses of all profiles', async () => {
  const [club, work, home] = ['bea.club@ramos.example', 'bea.work@ramos.example', 'bea.home@ramos.example'];
  const bea = { first_name: 'Bea', last_name: 'Ramos', marketing_consent: true };
  await book({ ...bea, email: club }, { ...bea, email: work }, { ...bea, email: home });
  const [first, from, into] = [await idOf({ email: club }), await idOf({ email: work }), await idOf({ email: home })];
  await decide(first, 'merge', { into: from });
  await decide(from, 'merge', { into });
  assert.deepEqual(
    await subscribed('ramos'),
    { [club]: true, [work]: true, [home]: true },
    'a merge withdraws nothing',
  );
  await book({ ...bea, email: work, marketing_consent: false });
  const none = { [club]: false, [work]: false, [home]: false };
  assert.deepEqual(await subscribed('ramos'), none);

  const separated = await decide(into, 'split', { merged: from });
  assert.equal(separated.status, 200, JSON.stringify(separated.body));
  const names = { first_name: 'Bea', last_name: 'Ramos' };
  for (const email of [work, home]) {
    assert.deepEqual((await profile({ email }))?.guest, { ...names, email, marketing_consent: false });
  }
  assert.deepEqual(await subscribed('ramos'), none, 'undoing a merge subscribes nobody');
  await book({ ...names, email: club, phone: '+351912000444' });
  assert.equal((await profile({ phone: '+351912000444' }))?.id, from, 'what was merged into it before stays with it');
});

test('the first address of the surviving profile leads to it after a booking under the other one', async () => {
  const [old, current] = ['rob.old@hill.example', 'rob.now@hill.example'];
  const rob = { last_name: 'Hill', marketing_consent: true };
  await book({ ...rob, first_name: 'Bob', email: old }, { ...rob, first_name: 'Robert', email: current });
  const into = await idOf({ email: current });
  await decide(await idOf({ email: old }), 'merge', { into });
  await book({ first_name: 'Bob', last_name: 'Hill', email: old, nationality: 'GB' });
  await book({ first_name: 'Robert', last_name: 'Hill', email: current, marketing_consent: false });
  const found = await profile({ email: current });
  assert.deepEqual([found?.id, found?.guest.marketing_consent], [into, false]);
  assert.equal((await subscribed('hill'))[old], false);
});

test('merged into a profile that refused later, a profile is unsubscribed under its own address', async () => {
  const [old, current] = ['caio.old@torres.example', 'caio.now@torres.example'];
  const caio = { first_name: 'Caio', last_name: 'Torres' };
  await book({ ...caio, email: old, marketing_consent: true }, { ...caio, email: current, marketing_consent: false });
  assert.deepEqual(await subscribed('torres'), { [old]: true });
  await decide(await idOf({ email: old }), 'merge', { into: await idOf({ email: current }) });
  assert.deepEqual(await subscribed('torres'), { [old]: false });
});

test('a refusal after a merge stays when the merge is undone, whatever the two profiles said before', async () => {
  const [old, current] = ['edu.old@lobo.example', 'edu.now@lobo.example'];
  const edu = { first_name: 'Edu', last_name: 'Lobo' };
  await book({ ...edu, email: old, marketing_consent: false }, { ...edu, email: current, marketing_consent: true });
  const [from, into] = [await idOf({ email: old }), await idOf({ email: current })];
  await decide(from, 'merge', { into });
  assert.deepEqual(await subscribed('lobo'), { [current]: true });
  await node.send('grand', 'guest.updated', { email: current, marketing_consent: false });
  assert.deepEqual(await subscribed('lobo'), { [current]: false });
  assert.equal((await decide(into, 'split', { merged: from })).status, 200);
  assert.deepEqual(await subscribed('lobo'), { [current]: false }, 'undoing a merge subscribes nobody');
  await book({ ...edu, email: current, nationality: 'PT' });
  assert.equal((await profile({ email: current }))?.guest.marketing_consent, false);
});

test('after a split, a refusal that no booking made stays with both profiles; one in a booking with its own guest', async () => {
  const rosa = { first_name: 'Rosa', last_name: 'Alves', email: 'rosa@alves.example', phone: '+351912000666' };
  const aunt = { first_name: 'Rosa', last_name: 'Alves', phone: rosa.phone };
  const stayed = async (id: string, guest: object, consent: boolean) => {
    const past = { check_in: '2020-12-01', check_out: '2020-12-04', status: 'checked_out' };
    await node.take('grand', reservation(id, { ...past, guests: [{ ...guest, marketing_consent: consent }] }));
    await deliver();
  };
  const consents = async () => [
    (await profile({ email: rosa.email }))?.guest.marketing_consent,
    (await profile({ phone: rosa.phone }))?.guest.marketing_consent,
  ];
  await stayed('alves-1', rosa, true);
  await stayed('alves-2', aunt, true);
  await node.send('grand', 'guest.updated', { email: rosa.email, phone: rosa.phone, marketing_consent: false });
  assert.deepEqual(await consents(), [false, false]);
  await decide(await idOf({ email: rosa.email }), 'split', { fields: ['phone'] });
  assert.deepEqual(await consents(), [false, false], 'nobody knows which of the two refused');

  const other = { ...rosa, email: 'rosa.b@alves.example', phone: '+351912000777' };
  await stayed('alves-3', other, true);
  await stayed('alves-4', { ...aunt, phone: other.phone }, false);
  await decide(await idOf({ email: other.email }), 'split', { fields: ['phone'] });
  assert.equal((await profile({ email: other.email }))?.guest.marketing_consent, true);
  assert.equal((await profile({ phone: other.phone }))?.guest.marketing_consent, false);
});

test('a late guest event does not undo a refusal that a booking repeated since then', async () => {
  const email = 'ivone@serra.example';
  const refused = { email, marketing_consent: false };
  await node.send('grand', 'guest.updated', { email, marketing_consent: true }, Date.now() - 60_000);
  await node.send('grand', 'guest.updated', refused, Date.now() - 50_000);
  await book(refused);
  await node.send('grand', 'guest.updated', { email, marketing_consent: true, nationality: 'PT' }, Date.now() - 40_000);
  assert.deepEqual((await profile({ email }))?.guest, { ...refused, nationality: 'PT' });
  assert.deepEqual(await subscribed('serra'), { [email]: false });
});

test('a guest event reaches the bookings under the other address of a merged guest, and leaves the address', async () => {
  const [old, current] = ['gil.old@prado.example', 'gil.now@prado.example'];
  const gil = { first_name: 'Gil', last_name: 'Prado', marketing_consent: true };
  const sister = { first_name: 'Rita', last_name: 'Prado', marketing_consent: true, phone: '+351912000555' };
  await book({ ...gil, guest_id: 'p1', email: old, phone: sister.phone }, { ...gil, guest_id: 'p2', email: current });
  await book({ ...sister, email: 'rita@prado.example' }, { ...sister, guest_id: 'p3', email: old });
  const everybody = { [old]: true, [current]: true, 'rita@prado.example': true };
  assert.deepEqual(await subscribed('prado', 'stays'), everybody);
  await decide(await idOf({ guest_id: 'p1' }), 'merge', { into: await idOf({ guest_id: 'p2' }) });
  await node.send('grand', 'guest.updated', { guest_id: 'p2', email: current, marketing_consent: false });
  const [now, kept] = [{ ...everybody, [current]: false }, 'his sister has the old address as well, and said yes'];
  assert.deepEqual(await subscribed('prado', 'stays'), now, kept);
  const { rows } = await node.runtime.pool.query(
    `select data -> 'guests' -> 0 ->> 'email' as email, data -> 'guests' -> 0 ->> 'marketing_consent' as consent
       from records where type = 'reservation' and data::text like '%Prado%' order by id`,
  );
  assert.deepEqual(
    rows.map(({ email, consent }) => `${email} ${consent}`),
    [`${old} false`, `${current} false`, 'rita@prado.example true', `${old} true`],
    'with another id it is another person',
  );
});

test('decisions that make no sense are refused with the reason', async () => {
  await book({ first_name: 'Ana', last_name: 'So', email: 'ana.so@mail.example' });
  const id = await idOf({ email: 'ana.so@mail.example' });
  const itself = await decide(id, 'merge', { into: id });
  assert.deepEqual([itself.status, itself.body.code], [409, 'operate.profile_not_editable']);
  assert.equal((await decide(id, 'merge', { into: 'gst_none' })).status, 404);
  assert.equal((await decide(id, 'split', { fields: ['email'] })).status, 409, 'nothing would be left');
  assert.equal((await decide(id, 'split', { fields: ['phone'] })).status, 409, 'it has none');
  assert.equal((await decide(id, 'split', {})).status, 422);
  const viewer = await node.token('viewer');
  assert.equal((await node.call('POST', `/integrations/grand/guests/${id}/merge`, viewer, { into: 'x' })).status, 403);
});

test('an erasure by the address of the merged profile reaches the profile that continues it', async () => {
  const first = { first_name: 'Ivo', last_name: 'Primeiro', email: 'ivo.markone@mail.example' };
  const second = { first_name: 'Ivo', last_name: 'Segundo', email: 'ivo.marktwo@mail.example' };
  await book(first, second);
  const into = await idOf({ email: second.email });
  await decide(await idOf({ email: first.email }), 'merge', { into });
  const exported = await exportGuest(node.runtime, { email: first.email });
  assert.match(JSON.stringify(exported), /marktwo/);
  await eraseGuest(node.runtime, { email: first.email }, 'test');
  const { rows } = await node.runtime.pool.query(
    `select 1 from records where data::text ~ 'mark(one|two)'
     union all select 1 from history where diff::text ~ 'mark(one|two)'
     union all select 1 from profile_pins where key ~ 'mark(one|two)'`,
  );
  assert.equal(rows.length, 0);
});

test('the consent that a guest’s own event states holds in bookings, whatever arrives first', async () => {
  const now = Date.now();
  const person = (name: string) => ({ first_name: 'Ola', last_name: name, email: `ola@${name}.example` });
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04', status: 'confirmed', currency: 'EUR' };
  const event = (name: string, at: number, consent: boolean | null) => () =>
    node.send('grand', 'guest.updated', { ...person(name), marketing_consent: consent }, now + at);
  const booking = (name: string, id: string, at: number, consent?: boolean) => () =>
    node.send(
      'grand',
      'reservation.created',
      {
        reservation_id: `${name}-${id}`,
        ...stay,
        guests: [{ ...person(name), ...(consent !== undefined && { marketing_consent: consent }) }],
      },
      now + at,
    );
  const cases: Record<string, (name: string) => (() => Promise<void>)[]> = {
    refusal: (name) => [booking(name, 'x', -9_000, true), event(name, -5_000, false)],
    unknown: (name) => [booking(name, 'x', -9_000), event(name, -5_000, false)],
    agreement: (name) => [booking(name, 'x', -9_000, false), event(name, -5_000, true)],
    // Another booking repeats the refusal: the event still counts for the first one.
    repeated: (name) => [
      booking(name, 'x', -9_000, true),
      event(name, -5_000, false),
      booking(name, 'y', -2_000, false),
    ],
    // A booking shows the decision about its person.
    bookings: (name) => [booking(name, 'x', -9_000, true), booking(name, 'y', -2_000, false)],
    // A later booking agrees again.
    again: (name) => [event(name, -9_000, false), booking(name, 'x', -5_000, true)],
  };
  const ends: Record<string, Set<string>> = {};
  for (const [name, messages] of Object.entries(cases)) {
    const ways = permutations(messages('any').length);
    for (const [way, order] of ways.entries()) {
      const of = `${name}${way}`;
      const made = messages(of);
      for (const i of order) {
        await made[i]?.();
        await deliver();
      }
      const { rows } = await node.runtime.pool.query<{ id: string; consent: boolean | null }>(
        `select id, data -> 'guests' -> 0 -> 'marketing_consent' as consent from records
          where integration = 'grand' and type = 'reservation' and id like $1 order by id`,
        [`${of}-%`],
      );
      const seen = rows.map(({ id, consent }) => `${id.slice(of.length + 1)} ${consent}`).join(', ');
      ends[name] = (ends[name] ?? new Set()).add(seen);
    }
  }
  assert.deepEqual(ends, {
    refusal: new Set(['x false']),
    unknown: new Set(['x false']),
    agreement: new Set(['x true']),
    repeated: new Set(['x false, y false']),
    bookings: new Set(['x false, y false']),
    again: new Set(['x true']),
  });
});

function permutations(length: number): number[][] {
  if (length === 0) return [[]];
  const last = length - 1;
  return permutations(last).flatMap((one) =>
    Array.from({ length }, (_, at) => [...one.slice(0, at), last, ...one.slice(at)]),
  );
}

test('a merge gives the surviving profile no address that other people have, and its bookings stay with it', async () => {
  const email = 'desk@smith-travel.example';
  const john = { first_name: 'John', last_name: 'Smith', email };
  const mary = { first_name: 'Mary', last_name: 'Jones', email };
  await book(john, mary, { ...john, nationality: 'GB' });
  const again = `b-${booked}`;
  const into = await first(john, { nationality: undefined });
  const from = await idOf({ ...john, nationality: 'GB' });
  assert.notEqual(from, into, 'an agent’s address makes nobody the same person');
  assert.equal((await decide(from, 'merge', { into })).status, 200);
  const { rows } = await node.runtime.pool.query(`select key from profile_pins where profile_id = $1`, [into]);
  assert.deepEqual(
    rows.filter(({ key }) => key === `email:${email}`),
    [],
  );

  const stay = { check_in: '2099-12-01', check_out: '2099-12-05' };
  const asBefore = { ...john, nationality: 'GB', phone: '+351912000999' };
  await node.take('grand', reservation(again, { ...stay, guests: [asBefore as JsonObject] }));
  await deliver();
  assert.equal(
    await idOf({ phone: '+351912000999' }),
    into,
    'a booking of the merged profile belongs to the one that stays',
  );

  await book({ ...mary, nationality: 'IE' });
  assert.equal((await profile({ nationality: 'IE' }))?.guest.email, email, 'Mary keeps the agent’s address');

  await book({ ...john, nationality: 'US' });
  const third = await idOf({ ...john, nationality: 'US' });
  assert.ok(![from, into].includes(third), 'another John Smith of the agent is nobody known');
  assert.equal((await profile({ extra: { merged_into: into } }))?.id, from, 'the merged profile stays merged');
});

test('the address that a merged profile had and a stranger has as well leads to neither', async () => {
  const email = 'desk@agency.example';
  const own = { first_name: 'Tim', last_name: 'Alder', email: 'tim@alder.example' };
  await book({ first_name: 'Zoe', last_name: 'Birch', email }, { ...own, email }, own);
  const [from, into] = [await idOf({ ...own, email }), await idOf(own)];
  assert.equal((await decide(from, 'merge', { into })).status, 200);
  await book({ ...own, email, nationality: 'DK' });
  const later = await idOf({ ...own, email, nationality: 'DK' });
  assert.ok(![from, into].includes(later));
  assert.equal((await profile({ extra: { merged_into: into } }))?.id, from, 'its id is not given again');
});

/** The profile with these values that lacks the others. */
async function first(where: Partial<Guest>, without: Partial<Record<keyof Guest, undefined>>): Promise<string> {
  const { rows } = await node.runtime.pool.query<{ id: string; data: Guest }>(
    `select id, data from records where integration = 'grand' and type = 'guest' and data::jsonb @> $1::jsonb`,
    [JSON.stringify(where)],
  );
  const [found] = rows.filter(({ data }) => Object.keys(without).every((field) => !(field in data)));
  assert.ok(found, JSON.stringify(where));
  return found.id;
}
