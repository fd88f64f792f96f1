import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { envelopeSchema } from '../../../src/core/documents/connector-events.ts';
import type { EventsRead } from '../../../src/core/intake/push/foreign-envelope.ts';
import { readEvents } from '../../../src/core/intake/push/receive.ts';
import { foreignEnvelope } from '../../../src/core/intake/push/settings.ts';
import type { Json } from '../../../src/terms.ts';
import { settings } from './support.ts';

/** A sender's own envelope, as a connector describes it, read into ours. */

function read(
  document: Record<string, unknown>,
  body: Json,
  options: { headers?: Record<string, string>; query?: string; ids?: string[] | undefined; isThin?: boolean } = {
    ids: ['id'],
  },
): EventsRead {
  const rawBody = Buffer.from(JSON.stringify(body));
  const eventIdPlaces = 'ids' in options ? options.ids : ['id'];
  const envelope = foreignEnvelope(envelopeSchema.parse(document));
  const request = { headers: options.headers ?? {}, query: options.query ?? '', rawBody };
  return readEvents({ ...settings, envelope, eventIdPlaces, isThin: options.isThin ?? false }, body, request);
}

function events(result: EventsRead) {
  assert.equal(result.kind, 'ok', JSON.stringify(result));
  return result.kind === 'ok' ? result.events : [];
}
const pointers = (result: EventsRead) =>
  result.kind === 'invalid' ? result.problems.map(({ pointer }) => pointer) : assert.fail('was taken');

const names = { 'reservation.updated': ['booking.changed', 'Booking.Moved'] };
const good = {
  event: 'booking.changed',
  timestamp: '2026-11-15T10:00:00Z',
  brand_id: 'LIS01',
  id: 'e1',
  data: { a: 1 },
};

test('an empty envelope description means our envelope', () => {
  const [event] = events(read({}, { ...good, event: 'reservation.created' }));
  assert.equal(event?.event, 'reservation.created');
  assert.equal(event?.occurredAt, Date.UTC(2026, 10, 15, 10, 0, 0, 999));
  assert.equal(event?.eventId, 'e1');
});

test('event names are mapped without case; unknown ones are refused', () => {
  assert.equal(events(read({ names }, good))[0]?.event, 'reservation.updated');
  assert.equal(events(read({ names }, { ...good, event: 'BOOKING.MOVED' }))[0]?.event, 'reservation.updated');
  assert.deepEqual(pointers(read({ names }, { ...good, event: 'reservation.updated' })), ['/event']);
  assert.deepEqual(pointers(read({ names }, { ...good, event: undefined as never })), ['/event']);
});

test('other events may be ignored without further checks, but not one without a name', () => {
  const document = { names, others: 'ignore' };
  const result = read(document, { event: 'tasks.changed', id: 'e2' });
  assert.deepEqual(result, { kind: 'ok', events: [], eventId: 'e2', ignored: 1 });
  assert.deepEqual(pointers(read(document, { id: 'e2' })), ['/event', '/timestamp', '/brand_id', '/data']);
});

test('a name in a header, or of several parts', () => {
  const inHeader = { names, event: 'header.X-Event' };
  const { event: _, ...rest } = good;
  assert.equal(events(read(inHeader, rest, { headers: { 'x-event': 'booking.changed' } })).length, 1);
  assert.deepEqual(pointers(read(inHeader, rest)), ['']);
  const joined = { names: { 'reservation.created': 'booking:new' }, event: { join: ['what', 'how'], with: ':' } };
  assert.equal(events(read(joined, { ...rest, what: 'booking', how: 'new' }))[0]?.event, 'reservation.created');
  assert.deepEqual(pointers(read(joined, { ...rest, what: 'booking' })), ['/what']);
});

for (const [format, stated, expected] of [
  ['iso', '2026-11-15T10:00:00+02:00', Date.UTC(2026, 10, 15, 8, 0, 0, 999)],
  ['iso', '2026-11-15T10:00+02:00', Date.UTC(2026, 10, 15, 8, 0, 59, 999)],
  ['iso', '2026-11-15T10:00:00.250+02:00', Date.UTC(2026, 10, 15, 8, 0, 0, 250)],
  ['iso', '2026-11-15T10:00:00', undefined],
  ['iso', 1_794_733_200, undefined],
  ['seconds', 1_794_733_200, Date.UTC(2026, 10, 15, 9, 0, 0, 999)],
  ['seconds', '1794733200.4406', Date.UTC(2026, 10, 15, 9, 0, 0, 441)],
  ['seconds', 1_794_733_200_000, undefined],
  ['seconds', -1, undefined],
  ['seconds', '1e9', undefined],
  ['milliseconds', 1_794_733_200_123, Date.UTC(2026, 10, 15, 9, 0, 0, 123)],
  ['milliseconds', '2026-11-15T10:00:00Z', undefined],
  // Seconds read as milliseconds would be 1970: older than anything stored, so that the event would change nothing.
  ['milliseconds', 1_794_733_200, undefined],
  ['iso', '0001-01-01T00:00:00Z', undefined],
] as const) {
  test(`a time in ${format}: ${stated}`, () => {
    const result = read({ names, timestamp: 'at', timestamp_format: format }, { ...good, at: stated });
    if (expected === undefined) assert.deepEqual(pointers(result), ['/at']);
    else assert.equal(events(result)[0]?.occurredAt, expected);
  });
}

test('time and brand may be absent: the database stamps the time, the endpoint defines the brand', () => {
  const { timestamp: _t, brand_id: _b, ...bare } = good;
  assert.deepEqual(pointers(read({ names }, bare)), ['/timestamp', '/brand_id']);
  const [event] = events(read({ names, optional: ['timestamp', 'brand'] }, bare));
  assert.equal(event?.occurredAt, undefined);
  assert.equal(events(read({ names, timestamp: false, brand: false }, bare)).length, 1);
  const other = { ...bare, brand_id: 'OPO02' };
  assert.deepEqual(pointers(read({ names, optional: ['timestamp', 'brand'] }, other)), ['/brand_id']);
  assert.equal(events(read({ names, optional: ['timestamp'], brand: false }, other)).length, 1);
});

test('the stored body is our envelope around the sender’s data, equal for a retry', () => {
  const { timestamp: _, ...bare } = good;
  const [event] = events(read({ names, timestamp: false }, bare));
  assert.equal(event?.body.toString(), '{"event":"reservation.updated","brand_id":"LIS01","data":{"a":1}}');
  const [whole] = events(read({ names, data: '$item' }, good));
  assert.deepEqual(JSON.parse(whole?.body.toString() ?? '').data, good);
});

const several = { each: 'batch.list', names, event: 'type', brand: '$body.hotel', timestamp: false };
const inBatch = (list: Json, more = {}) => ({ hotel: 'LIS01', delivery: 'd1', batch: { list }, ...more });
const item = (id: string, type = 'booking.changed') => ({ id, type, data: { id } });

test('several events in one body, each with its id', () => {
  const result = read(several, inBatch([item('a'), item('b')]));
  assert.deepEqual(
    events(result).map(({ eventId }) => eventId),
    ['a', 'b'],
  );
  assert.equal(result.kind === 'ok' && result.eventId, 'a');
});

test('the body itself may be the list of events, and a place may name an item of a list', () => {
  const bare = { each: '$body', names, event: 'tags[0].type', brand: false, timestamp: false, data: 'rows.0' };
  const one = (id: string) => ({ id, tags: [{ type: 'booking.changed' }], rows: [{ id }] });
  const result = read(bare, [one('a'), one('b')]);
  assert.deepEqual(
    events(result).map(({ eventId, data }) => [eventId, data]),
    [
      ['a', { id: 'a' }],
      ['b', { id: 'b' }],
    ],
  );
  assert.deepEqual(pointers(read(bare, [one('a'), { ...one('b'), rows: [], tags: [] }])), [
    '/1/tags/0/type',
    '/1/rows/0',
  ]);
  assert.deepEqual(pointers(read(bare, { list: [] })), ['']);
});

test('events that share an id get their position appended', () => {
  const ids = (places: string[] | undefined, headers = {}) =>
    events(read(several, inBatch([item(''), item('')]), { ids: places, headers })).map(({ eventId }) => eventId);
  assert.deepEqual(ids(['$body.delivery']), ['d1/0', 'd1/1']);
  assert.deepEqual(ids(['header.X-Id'], { 'x-id': 'h' }), ['h/0', 'h/1']);
  const [first, second] = ids(['id']);
  assert.match(first ?? '', /^sha256:[0-9a-f]{64}\/0$/);
  assert.match(second ?? '', /\/1$/);
  assert.notDeepEqual(ids(undefined), ids(undefined), 'without places every body counts');
});

test('a sender without event names, whose events are nothing but ids', () => {
  const document = { each: 'changed', event: false, timestamp: false, brand: '$body.hotel', data: { id: '$item' } };
  const body = { hotel: 'LIS01', changed: ['B-7', 8] };
  assert.deepEqual(
    events(read(document, body)).map(({ event, data }) => [event, data]),
    [
      ['reservation.updated', { id: 'B-7' }],
      ['reservation.updated', { id: '8' }],
    ],
  );
  assert.deepEqual(pointers(read(document, { ...body, changed: ['B-7', '', {}] })), ['/changed/1', '/changed/2']);
  for (const more of [{ names }, { others: 'ignore' }])
    assert.equal(envelopeSchema.safeParse({ ...document, ...more }).success, false);
});

test('a thin event without id and time is never a duplicate: the reservation may have changed again', () => {
  const ids = (document: Record<string, unknown>, isThin: boolean) =>
    events(read(document, inBatch([item(''), { ...item('x'), at: 1_794_733_200 }]), { ids: ['id'], isThin })).map(
      ({ eventId }) => eventId,
    );
  const [first, stated] = ids(several, true);
  const [again, same] = ids(several, true);
  assert.notEqual(first, again);
  assert.equal(stated, same, 'an id still shows a duplicate');
  assert.deepEqual(ids(several, false), ids(several, false), 'other events are duplicates by their body');
  const timed = { ...several, timestamp: '$body.at', timestamp_format: 'seconds' };
  const body = inBatch([item('')], { at: 1_794_733_200 });
  const timedId = () => events(read(timed, body, { ids: ['id'], isThin: true }))[0]?.eventId;
  assert.equal(timedId(), timedId(), 'equal times and equal bodies are one event');
});

test('one invalid event refuses the body, and the pointer names it', () => {
  const list = [item('a'), { id: 'b', type: 'booking.changed' }, item('c', 'nonsense')];
  assert.deepEqual(pointers(read(several, inBatch(list))), ['/batch/list/1/data', '/batch/list/2/type']);
  assert.deepEqual(pointers(read(several, inBatch([item('a')], { hotel: 'OPO02' }))), ['/hotel']);
});

test('no list, too long a list, an empty one', () => {
  assert.deepEqual(pointers(read(several, inBatch({}))), ['/batch/list']);
  assert.deepEqual(pointers(read(several, inBatch(Array.from({ length: 1_001 }, () => item('a'))))), ['/batch/list']);
  assert.deepEqual(events(read(several, inBatch([]))), []);
});

test('property: any body is read or refused, and never quoted', () => {
  const documents = [several, { names }, { names, others: 'ignore', data: ['x', '$item'], optional: ['timestamp'] }];
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...documents), (body, document) => {
      const result = read(document, body as Json);
      if (result.kind === 'ok') return;
      for (const { pointer } of result.problems) {
        assert.match(pointer, /^(?:|\/(?:event|timestamp|brand_id|data|x|hotel|batch\/list(?:\/\d+\/\w+)?))$/);
      }
    }),
  );
});

test('an event that only the address names: equal bodies at two addresses are two events', () => {
  const document = {
    event: 'query.event',
    names: { 'reservation.updated': 'changed', 'reservation.cancelled': 'removed' },
    timestamp: false,
    brand: false,
    data: '$item',
  };
  const at = (query: string) => read(document, { booking: 7 }, { query, ids: ['id'] });
  const [changed, removed] = ['token=t&event=changed', 'event=removed'].map((query) => events(at(query))[0]);
  assert.deepEqual([changed?.event, removed?.event], ['reservation.updated', 'reservation.cancelled']);
  assert.notEqual(changed?.eventId, removed?.eventId);
  assert.deepEqual(pointers(at('event=other')), ['/query/event']);
  assert.equal(at('').kind, 'invalid');
});

test('data that is JSON in a text', () => {
  const document = { json: 'push_data', event: false, timestamp: false, brand: 'property', data: 'push_data' };
  const body = { property: 'LIS01', push_data: '{"reservation": 17024718}' };
  assert.deepEqual(events(read(document, body))[0]?.data, { reservation: 17024718 });
  for (const text of ['{"reservation"', '[1]', 'x'])
    assert.deepEqual(pointers(read(document, { ...body, push_data: text })), ['/push_data'], text);
  assert.deepEqual(events(read(document, { ...body, push_data: { reservation: 1 } }))[0]?.data, { reservation: 1 });
});
