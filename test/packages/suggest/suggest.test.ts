import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { suggestConnector, suggestionYaml } from '../../../packages/suggest/src/index.ts';
import { connectorProblems } from '../../../src/core/brand/compile.ts';
import { schemas } from '../../../src/core/documents/kinds.ts';
import { parseJson } from '../../../src/kit/json.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { readCases, runCase } from '../../connectors/cases.ts';
import { countReads } from '../../support/count-reads.ts';

const dir = path.join(import.meta.dirname, 'cases');

interface Case {
  readonly about: string;
  readonly timezone: string;
  readonly country: string;
  readonly shape: JsonObject;
  readonly pagination: JsonObject;
  readonly response: Json;
  readonly records: Json[];
}

for (const file of readdirSync(dir).sort()) {
  const one = parseJson(readFileSync(path.join(dir, file), 'utf8')) as unknown as Case;
  test(`${file}: ${one.about}`, () => {
    const { connector } = suggested(one.response);
    assert.deepEqual(connector.shape ?? {}, one.shape);
    assert.deepEqual((connector.pull as JsonObject).pagination, one.pagination);
    const { timezone, country, response } = one;
    const { records } = runCase(schemas.connector.parse(connector), { timezone, country, response });
    assert.deepEqual(records, one.records);
  });
}

function suggested(sample: Json) {
  const suggestion = suggestConnector(sample);
  assert.ok(suggestion.kind === 'ok', JSON.stringify(suggestion));
  return suggestion;
}

function sampleOf(connector: string): Json {
  const { response } =
    readCases(connector).find(({ response: list, records }) => list !== undefined && records.length > 0) ?? {};
  assert.ok(response !== undefined);
  return response;
}

/** The charges section proposed for three bookings with these parts. */
function chargesOf(...parts: readonly JsonObject[]): readonly JsonObject[] {
  const bookings = parts.map((part, i) => ({
    id: `R${i + 1}`,
    check_in: `2026-03-0${i + 1}`,
    check_out: `2026-03-0${i + 4}`,
    status: 'confirmed',
    guests: [{ first_name: 'Ana', last_name: 'Costa' }],
    ...part,
  }));
  const { charges } = suggested({ bookings } as unknown as Json).connector.map as {
    charges: JsonObject | JsonObject[];
  };
  return Array.isArray(charges) ? charges : [charges];
}

test('a price beside a count is multiplied; lines with a negative count are payments', () => {
  const bill = (...lines: readonly [description: string, quantity: number, price: number][]) => ({
    items: lines.map(([description, quantity, price]) => ({ description, quantity, price })),
  });
  const [charges = {}] = chargesOf(
    bill(['Breakfast', 2, 12.5], ['Parking', 3, 9]),
    bill(['Minibar', 1, 7], ['Card payment', -1, 40]),
    bill(['Spa', 4, 20]),
  );
  assert.deepEqual((charges.fields as JsonObject).amount, { product: ['quantity', 'price'] });
  assert.deepEqual(charges.where, { quantity: { at_least: 0 } });
});

test('taxes beside charges that add up to the total are part of them', () => {
  const [charges, ...others] = chargesOf(
    ...[100, 250, 80].map((amount) => ({
      total_amount: amount + 20,
      charges: [
        { description: 'Room', amount },
        { description: 'Breakfast', amount: 20 },
      ],
      taxes: [{ description: 'VAT', amount: 7 }],
    })),
  );
  assert.deepEqual([charges?.from, others], ['charges', []]);
});

test('every proposed field has a confidence and a reason', () => {
  const { fields, connector } = suggested(sampleOf('apaleo'));
  for (const { field, path: place, confidence, reason } of fields) {
    assert.ok(confidence > 0 && confidence < 1, field);
    assert.ok(place.length > 0 && reason.length > 0, field);
  }
  const told = new Set(fields.map(({ field }) => field));
  const own = Object.keys(connector.map as JsonObject).filter((name) => !['guests', 'rooms', 'charges'].includes(name));
  for (const field of own) assert.ok(told.has(field), field);
  assert.equal(fields.find(({ field }) => field === 'guests.email')?.path, 'primaryGuest.email');
});

test('the unmapped paths are listed, and nothing else', () => {
  const { unmapped } = suggested({
    reservations: [
      {
        id: 'R1',
        check_in: '2026-05-01',
        check_out: '2026-05-02',
        status: 'confirmed',
        colour: 'red',
        guests: [{ last_name: 'Lund', shoe: 41 }],
      },
    ],
  });
  assert.deepEqual(unmapped, ['colour', 'guests[].shoe']);
});

test('an unknown status makes no dead letter: it is other, and listed with its count for a person to look up', () => {
  const records = ['confirmed', 'checked-in', 'cancelled', 'GRIBBLED'].map((status, index) => ({
    id: `R${index}`,
    check_in: '2026-05-01',
    check_out: '2026-05-02',
    status,
  }));
  const suggestion = suggested(records);
  assert.deepEqual(suggestion.unknown, ['GRIBBLED (1 record)']);
  assert.match(suggestionYaml(suggestion), /add to values\.status: GRIBBLED/);
  assert.equal(suggestion.connector.unknown_status, 'other');
});

test('statuses without words get no meaning, even where the dates of the stays suggest one', () => {
  const stays = [
    [1, '2026-05-01', '2026-05-03'],
    [2, '2026-05-09', '2026-05-12'],
    [3, '2026-05-20', '2026-05-22'],
    [4, '2026-05-02', '2026-05-04', '2026-04-20T09:00:00Z'],
  ] as const;
  const records = stays.map(([status, check_in, check_out, cancelled_at], index) => ({
    id: `R${index}`,
    check_in,
    check_out,
    status,
    created_at: '2026-04-01',
    ...(cancelled_at && { cancelled_at }),
  }));
  const { connector, unknown } = suggested(records);
  assert.equal(connector.values, undefined);
  assert.deepEqual(unknown, ['1 (1 record)', '2 (1 record)', '3 (1 record)', '4 (1 record)']);
  const { records: made } = runCase(schemas.connector.parse(connector), {
    timezone: 'UTC',
    country: 'PT',
    response: records,
  });
  assert.deepEqual(
    made.map((one) => (one as JsonObject).status),
    ['other', 'other', 'other', 'cancelled'],
  );
});

test('the day of a cancellation is found under its usual names, and not in a deadline', () => {
  const names = [
    'cancelled_at',
    'canceled_at',
    'canceledAt',
    'cancellationDate',
    'cancellation_time',
    'dateCancelled',
    'cancelTime',
    'CancelledUtc',
    'cancelledOn',
    'stornodatum',
    'fecha_cancelacion',
    'date_annulation',
    'data_cancellazione',
  ];
  const sample = (more: JsonObject) => [
    { id: 'R1', check_in: '2026-05-01', check_out: '2026-05-02', status: 'confirmed' },
    { id: 'R2', check_in: '2026-05-03', check_out: '2026-05-04', status: 'cancelled', ...more },
  ];
  const proposedFor = (name: string) =>
    suggested(sample({ [name]: '2026-04-20T09:00:00Z' })).fields.find(({ field }) => field === 'cancelled_at')?.path;
  for (const name of names) assert.equal(proposedFor(name), name);
  for (const name of ['cancellation_deadline', 'cancellationPolicyDate', 'freeCancellationUntil', 'cancel_before_date'])
    assert.equal(proposedFor(name), undefined, name);
});

test('the name of a pitch is not a channel, and an account of a messenger is not the id of a guest', () => {
  const { fields } = suggested([
    {
      id: 'R1',
      check_in: '2026-05-01',
      check_out: '2026-05-02',
      status: 'confirmed',
      site_name: 'Cabin 4',
      guests: [{ first_name: 'Ada', last_name: 'Lund', email: 'ada@example.example', SkypeID: 'ada.lund' }],
    },
  ]);
  const told = fields.map(({ field, path }) => `${field} ${path}`).filter((line) => /site_name|Skype/.test(line));
  assert.deepEqual(told, []);
});

test('03/04/2026 alone leaves day and month open, and the reason says so', () => {
  const { fields } = suggested([{ id: 'R1', check_in: '03/04/2026', check_out: '05/04/2026', status: 'confirmed' }]);
  assert.match(fields.find(({ field }) => field === 'check_in')?.reason ?? '', /other way round/);
});

test('the printed text is the connector, with a comment on each line', () => {
  for (const name of ['reference', 'reference-flat', 'mews', 'cloudbeds', 'ohip']) {
    const suggestion = suggested(sampleOf(name));
    const text = suggestionYaml(suggestion);
    assert.deepEqual(parse(text), suggestion.connector, name);
    assert.match(text, /check_in: .* # 0\.\d\d /, name);
    assert.deepEqual(connectorProblems(schemas.connector.parse(parse(text))), [], name);
  }
});

test('a sample without reservations gives no suggestion, with the reason', () => {
  for (const sample of [null, 7, 'x', [], {}, [1, 2], { rooms: [{ id: 1, name: 'A' }] }, { error: 'unauthorized' }]) {
    const suggestion = suggestConnector(sample);
    assert.equal(suggestion.kind, 'nothing');
  }
  const isEmpty = (sample: Json) => {
    const suggestion = suggestConnector(sample);
    return suggestion.kind === 'nothing' && suggestion.isEmpty;
  };
  assert.equal(isEmpty({ reservations: [], total: 0 }), true);
  assert.equal(isEmpty({ rooms: [{ id: 1 }], reservations: [] }), false);
  assert.equal(isEmpty({ error: 'unauthorized' }), false);
});

test('no JSON makes it fail, and every suggestion is a valid connector', () => {
  const key = fc.constantFrom(
    'id',
    'check_in',
    'checkOut',
    'status',
    'guests',
    'rooms',
    'name',
    '__proto__',
    'a b',
    "it's",
    '$x',
    '0',
    'email',
    'total',
    'items',
    'amount',
  );
  const value = fc.oneof(
    fc.constantFrom('2026-05-01', '2026-05-03', 'confirmed', 'a@b.example', 'EUR', ''),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      value,
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(key, tie('json'), { maxKeys: 6 }),
    ),
  }));
  const record = fc.tuple(json, json).map(([more, inner]): Json => {
    const base = { id: 'R1', check_in: '2026-05-01', check_out: '2026-05-03', inner };
    return typeof more === 'object' && more !== null && !Array.isArray(more) ? { ...more, ...base } : base;
  });
  fc.assert(
    fc.property(
      fc.oneof(json, fc.array(record, { maxLength: 3 }), fc.record({ data: fc.array(record, { maxLength: 3 }) })),
      (sample) => {
        const suggestion = suggestConnector(JSON.parse(JSON.stringify(sample)) as Json);
        if (suggestion.kind === 'nothing') return;
        const parsed = schemas.connector.safeParse(suggestion.connector);
        assert.ok(parsed.success, JSON.stringify(parsed.error));
        assert.deepEqual(connectorProblems(parsed.data), []);
      },
    ),
    { numRuns: 300 },
  );
});

test('keys with spaces, points and quotes are quoted, wherever a path is put together', () => {
  const odd = ["it's", 'a b', 'a.b', '$x', '7', '', `5' 10"`, 'a b\\', `it's \\`];
  for (const key of odd) {
    const person = { [key]: { emails: [{ [key]: 'ana@mail.example' }], first_name: 'Ana', last_name: 'Reis' } };
    const dates = { check_in: '2026-05-01', check_out: '2026-05-03', status: 'confirmed' };
    const sample: Json = {
      [key]: [
        {
          [key]: { id: 'R1' },
          ...dates,
          guests: [person],
          emails: [{ [key]: { [key]: 'ana@mail.example' } }],
          refs: [{ [`${key} type`]: 'Confirmation', id: '88' }],
          rooms: [{ [key]: { room_type: 'DBL', adults: 2 }, nights: [{ [key]: { date: '2026-05-01', amount: 80 } }] }],
          charges: { [key]: [{ [key]: { code: 'TAX', amount: 2.5 } }] },
        },
      ],
    };
    const parsed = schemas.connector.safeParse(suggested(sample).connector);
    assert.ok(parsed.success, `${key}: ${JSON.stringify(parsed.error)}`);
    assert.deepEqual(connectorProblems(parsed.data), [], key);
  }
  const [field] = suggested([
    { id: 'R1', check_in: '2026-05-01', check_out: '2026-05-03', email: [{ "it's": 'a@b.example' }] },
  ]).fields.filter(({ field: name }) => name === 'guests.email');
  assert.equal(field?.path, `email[0]."it's"`);
});

test('the records of a large response are read a few times each', () => {
  const [first] = (sampleOf('apaleo') as { reservations: JsonObject[] }).reservations;
  const all = Array.from({ length: 1_000 }, (_, index) => ({ ...first, id: `R${index}` }) as JsonObject);
  const { items: reservations, readsPerItem } = countReads(all);
  suggested({ reservations, count: 1_000 });
  assert.ok(readsPerItem() < 200, `${readsPerItem()} reads of each record`);
});

test('the departure is computed from the number of nights', () => {
  const records = [
    { ref: 'A-1', arrival: '2026-05-01', nights: 3, state: 'confirmed' },
    { ref: 'A-2', arrival: '2026-05-04', nights: 1, state: 'cancelled' },
  ];
  const map = suggested(records).connector.map as JsonObject;
  assert.deepEqual(map.check_out, { path: 'arrival', add_days: 'nights' });
});

test('the envelope of the interface description pages by offset and limit', () => {
  const reservation = { id: 'R1', check_in: '2026-05-01', check_out: '2026-05-02', status: 'confirmed' };
  const { connector } = suggested({ reservations: [reservation], total: 1, page: 1, page_size: 50 });
  assert.deepEqual((connector.pull as JsonObject).pagination, {
    type: 'offset',
    offset: 'query.offset',
    limit: 'query.limit',
    page_size: 50,
  });
});

test('rooms, surnames, companions and the price are found by their values, whatever their names', () => {
  const names = ['Kari Hansen', 'Bram Jansen', 'Freja Lund', 'Reto Ammann'].map((name) => name.split(' '));
  const records = names.map(([fname = '', clan = ''], at) => ({
    id: `B-${at + 71}`,
    arrival: `2026-05-1${at}`,
    departure: `2026-05-2${at}`,
    state: 'booked',
    reckoning: at === 3 ? null : { all: 300.5 + at * 120, in: 'NOK' },
    customer: { fname, clan, email: `${fname}.${clan}@mail.example`.toLowerCase(), tel: `4741231${at}00` },
    along: at < 2 ? [{ fname: ['Ane', 'Piet'][at] ?? '', clan }] : [],
    berths: [
      {
        line: 1,
        sort_kind: 1 + (at % 2),
        sort: at % 2 ? 'Penthouse' : 'Cabin by the sea',
        first_day: `2026-05-1${at}`,
        final_day: `2026-05-2${at}`,
        who: { big: 1 + (at % 3), small: at % 2 },
      },
    ],
  }));
  const map = suggested({ bookings: records }).connector.map as JsonObject;
  assert.deepEqual([map.total_amount, map.currency], ['reckoning.all', 'reckoning.in']);
  const phone = { join: [{ const: '+' }, 'tel'], with: '', when: { tel: { exists: true } } };
  assert.deepEqual(map.guests, [
    { from: 'customer', fields: { first_name: 'fname', last_name: 'clan', email: 'email', phone } },
    { from: 'along', fields: { first_name: 'fname', last_name: 'clan' } },
  ]);
  const dates = { start_date: 'first_day', end_date: 'final_day' };
  const heads = { adults: 'who.big', children: 'who.small' };
  assert.deepEqual(map.rooms, { from: 'berths', fields: { room_type: 'sort', ...dates, ...heads } });
});

test('a cursor that the last page has too is proposed with the flag that ends the list', () => {
  const node = { id: 'r1', checkIn: '2026-05-01', checkOut: '2026-05-03', status: 'confirmed' };
  const pageInfo = { hasNextPage: true, endCursor: 'c1' };
  const { connector } = suggested({ data: { reservations: { edges: [{ node }], pageInfo } } });
  assert.deepEqual((connector.pull as JsonObject).pagination, {
    type: 'cursor',
    next: 'data.reservations.pageInfo.endCursor',
    more: 'data.reservations.pageInfo.hasNextPage',
    cursor: 'query.cursor',
  });
});

test('the type of an id is not the type of a document', () => {
  const guest = {
    profileId: { id: '501', type: 'Profile' },
    firstName: 'Ana',
    lastName: 'Reis',
    email: 'ana@mail.example',
  };
  const stay = { id: 'r1', checkIn: '2026-05-01', checkOut: '2026-05-03', status: 'confirmed' };
  const { connector } = suggested([{ ...stay, guests: [guest] }]);
  const { guest_id, document_type } = ((connector.map as JsonObject).guests as JsonObject).fields as JsonObject;
  assert.deepEqual([guest_id, document_type], ['profileId.id', undefined]);
});

test('a list of cancellations beside the reservations is proposed, with a status that the mapping reads', () => {
  const booking = (no: string, state: string) => ({
    no,
    state: { code: state },
    arrival: '2026-05-01',
    departure: '2026-05-03',
    guest: { firstName: 'Ada', lastName: 'Example' },
  });
  const response = {
    result: {
      bookings: [booking('B1', 'confirmed'), booking('B2', 'checked_in')],
      cancelledBookings: [{ no: 'B0', at: '2026-04-01' }],
    },
  };
  const { connector } = suggested(response);
  assert.deepEqual((connector.shape as JsonObject).also, [
    { path: 'result.cancelledBookings', set: { status: 'cancelled' }, partial: true },
  ]);
  assert.deepEqual((connector.map as JsonObject).status, { first: ['status', 'state.code'] });
  assert.deepEqual(
    runCase(schemas.connector.parse(connector), { timezone: 'Europe/Lisbon', country: 'PT', response })
      .records.slice(0, 2)
      .map((record) => (record as JsonObject).status),
    ['confirmed', 'checked_in'],
  );
});

test('flat rows under days are proposed without the day, which a flat row does not keep', () => {
  const row = (booking: number, guest: string) => ({
    bookingId: booking,
    masterId: booking,
    departure: '2026-05-04',
    status: 'confirmed',
    guestId: guest,
    guestLastName: guest,
  });
  const sample = { '2026-05-01': [row(71, 'Lund'), row(71, 'Reis')], '2026-05-02': [row(72, 'Berg')] };
  const { connector } = suggested(sample);
  assert.deepEqual((connector.shape as JsonObject).flat, { key: 'bookingId', guests: { key: 'guestId' } });
  assert.equal((connector.map as JsonObject).check_in, undefined);
  assert.deepEqual(connectorProblems(schemas.connector.parse(connector)), []);
});

test('a list that is an object where it has one item, as in JSON made from XML, is not read as part of the reservation', () => {
  const guest = (no: string) => ({
    '@no': no,
    Name: { '@last': 'Reis' },
    Tel: { '@type': 'mobile', '#text': '5550100' },
  });
  const dates = { arrival: '2026-05-01', departure: '2026-05-03', status: 'confirmed' };
  const sample: Json = [
    { '@id': 'R1', ...dates, Guest: guest('G1') },
    { '@id': 'R2', ...dates, Guest: [guest('G2'), guest('G3')] },
  ];
  const { fields } = suggested(sample);
  const wrong = fields.filter(({ field, path }) => !field.startsWith('guests') && path.startsWith('Guest'));
  assert.deepEqual(wrong, []);
});

test('a full name is divided, also under its French name; mob is a phone', () => {
  const row = {
    ref: 'K1',
    arrivee: '2026-05-01',
    depart: '2026-05-04',
    NOM_COMPLET: 'EL AMRANI, Youssef',
    mob: '+212661234567',
  };
  const { connector } = suggested([row, { ...row, ref: 'K2', NOM_COMPLET: 'DUBOIS, Claire' }]);
  const { guests } = connector.map as { guests: { fields: JsonObject } };
  assert.deepEqual(guests.fields.first_name, { path: 'NOM_COMPLET', name: 'first' });
  assert.deepEqual(guests.fields.last_name, { path: 'NOM_COMPLET', name: 'last' });
  assert.equal(guests.fields.phone, 'mob');
});

test('what the owner gets is not what the guest pays', () => {
  const row = (id: number) => ({
    id: `R${id}`,
    check_in: '2026-05-01',
    check_out: '2026-05-03',
    status: 'confirmed',
    payout: { total: 80 + id, currency: 'EUR' },
    price: { amount: 100 + id, currency: 'EUR' },
  });
  const { connector } = suggested({ reservations: [row(1), row(2), row(3)] });
  assert.equal((connector.map as JsonObject).total_amount, 'price.amount');
});

test('a right to cancel is not a cancellation', () => {
  const row = (id: number, status: string) => ({
    reference: `R-${id}`,
    check_in: '2026-05-01',
    check_out: '2026-05-03',
    status,
    modificationPolicies: { cancellation: status === 'CONFIRMED', modification: true },
  });
  const { connector } = suggested({ bookings: [row(1, 'CONFIRMED'), row(2, 'CANCELLED'), row(3, 'CONFIRMED')] });
  assert.equal((connector.map as JsonObject).status, 'status');
});

test('stays that lie apart are not rows of one reservation, whatever id they share', () => {
  const row = (guest: string, arrival: string, departure: string, folder_id = 7) => ({
    folder_id,
    arrival,
    departure,
    status: 'confirmed',
    guest: { lastName: guest },
  });
  const rooms = [row('Reis', '2026-05-01', '2026-05-03'), row('Prado', '2026-05-02', '2026-05-04')];
  const other = row('Lund', '2026-06-01', '2026-06-02', 8);
  assert.deepEqual((suggested({ bookings: [...rooms, other] }).connector.shape as JsonObject).flat, {
    key: 'folder_id',
  });
  const apart = [...rooms, row('Reis', '2026-09-01', '2026-09-03'), other];
  assert.equal((suggested({ bookings: apart }).connector.shape as JsonObject).flat, undefined);
});

test('the rows of a group are its rooms, also with a guest of their own in each', () => {
  const row = (id: number, masterId: number, lastName: string) => ({
    id,
    masterId,
    lastName,
    firstName: 'Ana',
    roomType: 'DBL',
    adults: 1,
    arrival: '2026-05-01',
    departure: '2026-05-03',
    status: 'confirmed',
  });
  const { connector } = suggested({ bookings: [row(71, 71, 'Reis'), row(72, 71, 'Prado'), row(80, 0, 'Lund')] });
  assert.deepEqual(((connector.shape as JsonObject).flat as JsonObject).rooms, { key: 'id' });
});
