import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { reprocess as reprocessBrand } from '../../src/operator/operations/reprocess.ts';
import type { Json } from '../../src/terms.ts';
import { hotelConnector } from '../api/node.ts';
import { Brand } from '../persons/brand.ts';

let brand: Brand;
before(async () => {
  brand = await Brand.start();
});
after(() => brand.node.stop());

async function reprocess(preview: boolean): Promise<number> {
  const { changed } = await reprocessBrand(brand.node.runtime, { integration: 'grand', preview });
  await brand.deliver();
  return changed;
}

async function mapGuests(fields: string): Promise<void> {
  const text = hotelConnector(`map: { guests: { fields: { ${fields} } } }\n`);
  await applyDocument(brand.node.runtime, { kind: 'connector', name: 'hotel', text }, 'test');
}

/** A field of the guest in these bookings and in the profile. */
async function told(guestId: string, field: string): Promise<Json[]> {
  const { rows } = await brand.node.runtime.pool.query<{ data: { [field: string]: Json } }>(
    `select coalesce(data -> 'guests' -> 0, data) as data from records
      where integration = 'grand' and version > 0 and data::text like '%' || $1 || '%' order by type desc, id`,
    [`"guest_id":"${guestId}"`],
  );
  return rows.map(({ data }) => data[field] ?? null);
}

const past = { check_in: '2020-12-01', check_out: '2020-12-04' };
const ana = { guest_id: 'G1', first_name: 'Ana', last_name: 'Reis', email: 'ana@mail.example' };

test('what a mended mapping no longer reads of a guest’s event is taken back from bookings and profile', async () => {
  await mapGuests('nationality: { first: [home, nationality] }');
  await brand.pull('OLD', [{ ...ana, nationality: 'PT' }], past);
  await brand.pull('NEW', [{ ...ana, nationality: 'PT' }]);
  await brand.update({ guest_id: 'G1', home: 'DE', document_type: 'ID' });
  assert.deepEqual(await told('G1', 'nationality'), ['DE', 'PT', 'DE']);
  await mapGuests('nationality: nationality');
  assert.equal(await reprocess(true), 1);
  assert.deepEqual(await told('G1', 'nationality'), ['DE', 'PT', 'DE'], 'a preview changes nothing');
  await reprocess(false);
  assert.deepEqual(await told('G1', 'nationality'), ['PT', 'PT', 'PT']);
  assert.deepEqual(await told('G1', 'document_type'), ['ID', null, 'ID'], 'what it still says stays');
  assert.equal(await reprocess(false), 0);
});

test('a guest whose stays are all over gets back what the bookings say', async () => {
  const leo = { guest_id: 'G5', first_name: 'Leo', last_name: 'Paz', email: 'leo@mail.example', nationality: 'IT' };
  await mapGuests('nationality: { first: [home, nationality] }');
  await brand.pull('OVER', [leo], past);
  await brand.update({ guest_id: 'G5', home: 'AT' });
  assert.deepEqual(await told('G5', 'nationality'), ['IT', 'AT']);
  await mapGuests('nationality: nationality');
  await reprocess(false);
  assert.deepEqual(await told('G5', 'nationality'), ['IT', 'IT']);
});

test('a booking that has ended since is mended too, and one of an event about several guests', async () => {
  const bea = { guest_id: 'G2', first_name: 'Bea', last_name: 'Luz', email: 'bea@mail.example', nationality: 'ES' };
  const rui = { guest_id: 'G3', first_name: 'Rui', last_name: 'Sol', email: 'rui@mail.example', nationality: 'FR' };
  await mapGuests('nationality: { first: [home, nationality] }');
  await brand.pull('TWO', [bea, rui]);
  const guests = [
    { ...bea, home: 'AT' },
    { ...rui, home: 'CH' },
  ];
  await brand.update({ reservation_id: 'TWO', guests });
  assert.deepEqual(
    [await told('G2', 'nationality'), await told('G3', 'nationality')],
    [
      ['AT', 'AT'],
      ['AT', 'CH'],
    ],
  );
  await brand.node.take('grand', {
    ...{ id: 'TWO', status: 'checked_out', ...past, currency: 'EUR' },
    guests: [bea, rui] as unknown as Json,
  });
  await mapGuests('nationality: nationality');
  await reprocess(false);
  assert.deepEqual(
    [await told('G2', 'nationality'), await told('G3', 'nationality')],
    [
      ['ES', 'ES'],
      ['ES', 'FR'],
    ],
  );
  assert.equal(await reprocess(false), 0);
});

test('a yes that was read by mistake is taken back; one that the event still says stays', async () => {
  const eva = { guest_id: 'G4', first_name: 'Eva', last_name: 'Mar', email: 'eva@mail.example' };
  await mapGuests('marketing_consent: { first: [newsletter, marketing_consent] }');
  await brand.pull('EVA', [eva]);
  await brand.update({ guest_id: 'G4', marketing_consent: false });
  await brand.update({ guest_id: 'G4', newsletter: true });
  assert.deepEqual(await told('G4', 'marketing_consent'), [true, true]);
  await mapGuests('marketing_consent: marketing_consent');
  await reprocess(false);
  assert.deepEqual(await told('G4', 'marketing_consent'), [false, false]);
  await mapGuests('marketing_consent: { first: [newsletter, marketing_consent] }');
  await reprocess(false);
  assert.deepEqual(await told('G4', 'marketing_consent'), [true, true]);
  await mapGuests('nationality: nationality');
});

test('a guest’s event is about the bookings that the guest has by then, also if it arrives late', async () => {
  const [ida, tom] = ['Ida', 'Tom'].map((first_name) => ({
    guest_id: first_name,
    first_name,
    last_name: 'Vale',
    email: `${first_name.toLowerCase()}@mail.example`,
  }));
  const at = Date.now() - 60_000;
  await brand.push('JOIN', [tom ?? {}], at);
  await brand.push('JOIN', [ida ?? {}], at + 2_000);
  await brand.update({ guest_id: 'Ida', nationality: 'NO' }, at + 1_000);
  assert.deepEqual(await told('Ida', 'nationality'), [null, 'NO'], 'the guest was not on the booking yet');
  await brand.update({ guest_id: 'Ida', nationality: 'SE' }, at + 3_000);
  assert.deepEqual(await told('Ida', 'nationality'), ['SE', 'SE']);
});
