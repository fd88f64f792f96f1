import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import type { Json } from '../../src/terms.ts';
import { type ApiNode, reservation } from '../api/node.ts';
import { Brand, stay } from './brand.ts';

/** What destinations receive about relatives, companions and the guests of travel agents. */

let brand: Brand;
let node: ApiNode;
before(async () => {
  brand = await Brand.start();
  node = brand.node;
});
after(() => node.stop());

const pull: Brand['pull'] = (...of) => brand.pull(...of);
const push: Brand['push'] = (...of) => brand.push(...of);
const update: Brand['update'] = (...of) => brand.update(...of);
const deliver = () => brand.deliver();
const lines: Brand['lines'] = (where) => brand.lines(where);
const newest: Brand['newest'] = (id) => brand.newest(id);
const subscriptions: Brand['subscriptions'] = (email) => brand.subscriptions(email);
const profilesNamed = (lastName: string) => brand.profilesWith('last_name', lastName);

describe('lists of guests', () => {
  const joao = {
    first_name: 'João',
    last_name: 'Costa',
    email: 'joao.costa@mail.example',
    date_of_birth: '1980-02-03',
    document_type: 'PP',
    document_number: 'N123',
    marketing_consent: true,
  };

  test('a relative who takes the place in the list inherits nothing', async () => {
    await pull('list-1', [joao]);
    const maria = {
      first_name: 'Maria',
      last_name: 'Costa',
      email: 'maria.costa@mail.example',
      phone: '+351912345678',
    };
    await push('list-1', [maria]);
    assert.deepEqual(await newest('list-1'), [maria]);
    assert.deepEqual(await subscriptions(maria.email), []);
  });

  test('a guest without a name and with another address inherits nothing', async () => {
    await pull('list-2', [joao]);
    await push('list-2', [{ email: 'somebody@mail.example' }]);
    assert.deepEqual(await newest('list-2'), [{ email: 'somebody@mail.example' }]);
  });

  test('the same person written differently keeps everything', async () => {
    await pull('list-3', [joao]);
    await push('list-3', [{ first_name: 'COSTA', last_name: 'Joao', phone: '+351912345679' }]);
    const [guest] = (await newest('list-3')) ?? [];
    assert.equal(guest?.document_number, 'N123');
    assert.equal(guest?.marketing_consent, true);
  });
});

describe('consent', () => {
  const phone = '+351913333333';
  const ana = { first_name: 'Ana', last_name: 'Lopes', email: 'ana.lopes@mail.example', phone };
  const rui = { first_name: 'Rui', last_name: 'Lopes', email: 'rui.lopes@mail.example', phone };

  test('relatives with one phone neither subscribe nor unsubscribe each other', async () => {
    const refusing = { ...rui, marketing_consent: false };
    await pull('consent-1', [{ ...ana, marketing_consent: true }, refusing]);
    await pull('consent-1', [ana, refusing], { total_amount: 400 });
    await pull('consent-1', [refusing], { total_amount: 410 });
    const got = await lines('news');
    const withdrawn = got.flatMap(({ data }) => data.guests ?? [data]).filter((guest) => guest.phone === phone);
    assert.equal(
      withdrawn.some(({ marketing_consent }) => marketing_consent === false),
      false,
      'nobody withdrew',
    );
    assert.deepEqual(await subscriptions(rui.email), []);
  });

  test('a poll that repeats its yes does not undo an opt-out', async () => {
    const guest = { first_name: 'Eva', last_name: 'Brito', email: 'eva.brito@mail.example', marketing_consent: true };
    await pull('consent-2', [guest]);
    await update({ email: guest.email, first_name: 'Eva', last_name: 'Brito', marketing_consent: false });
    await pull('consent-2', [guest]);
    await pull('consent-2', [guest], { total_amount: 400 });
    await pull('consent-3', [guest]);
    assert.equal((await subscriptions(guest.email)).at(-1), false);
    assert.equal((await newest('consent-2'))?.[0]?.marketing_consent, false);
    assert.deepEqual((await subscriptions(guest.email)).filter((one) => one === false).length > 0, true);
    assert.deepEqual(
      (await profilesNamed('Brito')).map(({ marketing_consent }) => marketing_consent),
      [false],
    );
  });

  test('a late statement about an older stay does not unsubscribe against a newer yes', async () => {
    const guest = { first_name: 'Ida', last_name: 'Falk', email: 'ida.falk@mail.example', marketing_consent: true };
    const past = { check_in: '2026-01-01', check_out: '2026-01-04', status: 'checked_out' };
    const at = Date.now();
    const event = (consent: boolean): Json => ({
      reservation_id: 'consent-4',
      ...past,
      guests: [{ ...guest, marketing_consent: consent }],
    });
    await node.send('grand', 'reservation.updated', event(true), at - 3_000);
    await deliver();
    await update({ ...guest, first_name: 'Ida' }, at - 1_000);
    await node.send('grand', 'reservation.updated', event(false), at - 2_000);
    await deliver();
    assert.equal((await subscriptions(guest.email)).includes(false), false);
  });

  test('a relative’s no at one address does not silence a guest who agrees', async () => {
    const email = 'familie.wolf@mail.example';
    const petra = { first_name: 'Petra', last_name: 'Wolf', email, marketing_consent: true };
    await node.take('grand', reservation('consent-5', { ...stay, guests: [petra] }));
    await update({ first_name: 'Jens', last_name: 'Wolf', email, marketing_consent: false });
    assert.equal((await subscriptions(email)).at(-1), true);
  });
});

describe('guest events under a shared address', () => {
  const agent = 'agent@travel.example';
  const john = { first_name: 'John', last_name: 'Smith', email: agent, document_number: 'P1', marketing_consent: true };

  test('they change nobody else’s booking, and unsubscribe nobody else', async () => {
    for (const id of ['agent-1', 'agent-2', 'agent-3']) await pull(id, [john]);
    await update({
      first_name: 'Mary',
      last_name: 'Jones',
      email: agent,
      phone: '+351914444444',
      marketing_consent: false,
    });
    for (const id of ['agent-1', 'agent-2', 'agent-3']) assert.deepEqual(await newest(id), [john]);
    assert.equal((await subscriptions(agent)).includes(false), false);
  });

  test('two guests of an agent have two profiles', async () => {
    await pull('agent-4', [{ first_name: 'Lena', last_name: 'Vogt', email: agent, nationality: 'DE' }]);
    assert.deepEqual(await profilesNamed('Vogt'), [
      { first_name: 'Lena', last_name: 'Vogt', email: agent, nationality: 'DE' },
    ]);
    assert.equal((await profilesNamed('Smith'))[0]?.document_number, 'P1');
  });

  test('an event that could mean several persons is a dead letter with their places', async () => {
    await pull('two', [
      { first_name: 'Nils', last_name: 'Berg' },
      { first_name: 'Tove', last_name: 'Berg' },
    ]);
    await update({ reservation_id: 'two', phone: '+351915555555' });
    const { rows } = await node.runtime.pool.query(
      `select detail from dead_letters where code = 'push.guest_ambiguous' and detail::text like '%two%'`,
    );
    const candidates = [0, 1].map((place) => ({ reservation: 'two', place }));
    assert.deepEqual(rows, [{ detail: { guest: 0, candidates } }]);
  });
});

describe('namesakes of one list', () => {
  const named = { first_name: 'Abel', last_name: 'Melo', email: 'melo@home.example' };
  const older = { ...named, phone: '+351917000001', document_number: 'F1', marketing_consent: true };
  const younger = { ...named, phone: '+351917000002' };

  test('the next booking of one of them gives the other nothing', async () => {
    await pull('namesakes-1', [older, younger]);
    await pull('namesakes-2', [{ ...younger, nationality: 'BR' }]);
    await pull('namesakes-3', [{ ...named, nationality: 'PT' }]);
    assert.deepEqual((await profilesNamed('Melo')).toSorted(byPhone), [
      { ...named, nationality: 'PT' },
      older,
      { ...younger, nationality: 'BR' },
    ]);
  });

  test('the first of a list does not take the profile of the second', async () => {
    const own = ({ phone, ...guest }: Guest) => ({
      ...guest,
      last_name: 'Pinho',
      email: 'pinho@home.example',
      ...(phone && { phone: phone.replace('917', '918') }),
    });
    await pull('namesakes-4', [own(younger)]);
    await pull('namesakes-5', [own(older), own(younger)]);
    await pull('namesakes-5', [own(named), own(younger)]);
    await pull('namesakes-5', [own(named), own(younger)], { total_amount: 400 });
    assert.deepEqual((await profilesNamed('Pinho')).toSorted(byPhone), [own(older), own(younger)]);
  });

  test('a copy of a guest in the same list is the same person', async () => {
    const eva = { first_name: 'Eva', last_name: 'Paz', email: 'paz@home.example', document_number: 'E1' };
    const { document_number: _, ...copy } = eva;
    for (const total_amount of [100, 200, 300]) await pull('copy-1', [eva, copy], { total_amount });
    assert.deepEqual(await profilesNamed('Paz'), [eva]);
  });

  test('Jr and Sr in two bookings are two persons', async () => {
    const peter = { first_name: 'Peter', last_name: 'Doe', email: 'doe@home.example' };
    const senior = { ...peter, last_name: 'Doe Sr', document_number: 'P1', marketing_consent: true };
    await pull('generation-1', [senior]);
    await pull('generation-2', [{ ...peter, last_name: 'Doe Jr' }]);
    await pull('generation-3', [peter]);
    assert.deepEqual(await profilesNamed('Doe Sr'), [senior]);
    assert.deepEqual(await profilesNamed('Doe Jr'), [{ ...peter, last_name: 'Doe Jr' }]);
    assert.deepEqual(await profilesNamed('Doe'), [peter]);
  });

  test('an event under their address means neither of them', async () => {
    await update({ ...named, marketing_consent: false });
    await update({ ...named, reservation_id: 'namesakes-1', marketing_consent: false });
    assert.deepEqual(await newest('namesakes-1'), [older, younger]);
    assert.equal((await subscriptions(named.email)).includes(false), false);
  });

  const byPhone = (a: Guest, b: Guest) => ((a.phone ?? '') < (b.phone ?? '') ? -1 : 1);
});

test('an erasure removes the person from files, and not a relative with the same phone', async () => {
  const phone = '+351916666666';
  const sara = { first_name: 'Sara', last_name: 'Nunes', email: 'sara.nunes@mail.example', phone };
  const hugo = { first_name: 'Hugo', last_name: 'Nunes', phone };
  await pull('erased-1', [sara, hugo]);
  await eraseGuest(node.runtime, { email: sara.email }, 'test');
  await deliver();
  const all = (await lines('out')).filter(({ data }) => data.id === 'erased-1');
  for (const { data } of all) {
    assert.deepEqual(data.guests, [hugo]);
  }
});
