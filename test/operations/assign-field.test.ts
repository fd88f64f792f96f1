import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { assignField } from '../../src/operator/operations/assign-field.ts';

const text = `connector: hotel # ours
map:
  # the partner's own number
  id: ref
  guests: { from: people, fields: { last_name: family } }
`;
const mapOf = (field: string, path: string) => {
  const done = assignField(text, field, path);
  assert.equal(done.kind, 'ok', JSON.stringify(done));
  return done.kind === 'ok' ? parse(done.connector).map : undefined;
};
const refusal = (field: string, path: string, of = text) => {
  const done = assignField(of, field, path);
  return done.kind === 'refused' ? done.message : done.connector;
};

test('a field of the reservation is added, and comments stay', () => {
  assert.deepEqual(mapOf('check_in', 'stay.arrival').check_in, 'stay.arrival');
  const done = assignField(text, 'check_in', 'stay.arrival');
  assert.match(done.kind === 'ok' ? done.connector : '', /# ours\nmap:\n {2}# the partner's own number\n {2}id: ref/);
});

test('a field of a list is put into the list that is mapped already', () => {
  assert.deepEqual(mapOf('guests.first_name', 'people[0].given').guests, {
    from: 'people',
    fields: { last_name: 'family', first_name: 'given' },
  });
});

test('a list that is read from the record itself takes any of its fields', () => {
  const done = assignField('map: { rooms: { from: $item, fields: {} } }', 'rooms.room_type', 'unit.kind');
  assert.deepEqual(done.kind === 'ok' && parse(done.connector).map.rooms.fields, { room_type: 'unit.kind' });
});

test('a list that is not mapped yet is read from where the field is', () => {
  assert.deepEqual(mapOf('rooms.room_type', 'stay.units[1].kind').rooms, {
    from: 'stay.units',
    fields: { room_type: 'kind' },
  });
  assert.deepEqual(mapOf('charges.amount', 'price.total').charges, { from: 'price', fields: { amount: 'total' } });
});

test('further fields are mapped under extra', () => {
  assert.deepEqual(mapOf('extra.floor', 'room.floor').extra, { floor: 'room.floor' });
});

test('a field that cannot be placed is refused with the reason', () => {
  assert.match(
    refusal('guests.email', 'contact.mail'),
    /read from people; contact\.mail is outside of it\. If .* each .* email: \$record\.contact\.mail/,
  );
  assert.match(refusal('guests.email', 'others[0].mail'), /others\[0\]\.mail is outside of it\.$/);
  assert.match(refusal('rooms.room_type', 'kind'), /at the top of the record/);
  assert.match(refusal('id', 'ref', 'map: [unclosed'), /not valid YAML/);
  assert.match(refusal('guests.email', 'people[0].mail', 'map: { guests: [{ from: a }] }'), /not a plain list/);
});

test('a value that lies outside the record is looked up by the id in it', () => {
  const lookup = { in: '$body.channels', key: 'id', value: 'code' };
  const done = assignField(text, 'channel', 'channel_id', lookup);
  assert.equal(done.kind, 'ok');
  if (done.kind === 'ok')
    assert.deepEqual(parse(done.connector).map.channel, { lookup: { ...lookup, by: 'channel_id' } });
  const inList = assignField(text, 'guests.nationality', 'people[0].country', { ...lookup, in: '$body.countries' });
  assert.equal(inList.kind, 'ok');
  if (inList.kind === 'ok') assert.equal(parse(inList.connector).map.guests.fields.nationality.lookup.by, 'country');
});
