import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePlan, type Plan } from '../../src/core/brand/compile.ts';
import { schemas } from '../../src/core/documents/kinds.ts';
import { decide, finish, read } from '../../src/core/pipeline.ts';
import { newerIsStored, type Receipt, type Stored } from '../../src/core/reconcile/forms.ts';
import type { RawRecord } from '../../src/core/shape/config.ts';
import { parseJson } from '../../src/kit/json.ts';
import type { JsonObject } from '../../src/terms.ts';

function pathOf(connector: JsonObject, integration: JsonObject = {}) {
  const compiled = compilePlan(
    schemas.connector.parse({ connector: 'desk', ...connector }),
    schemas.integration.parse({
      integration: 'grand',
      connector: 'desk',
      brand_id: 'LIS01',
      timezone: 'Europe/Lisbon',
      country: 'PT',
      ...integration,
    }),
  );
  assert.equal(compiled.kind, 'ok', JSON.stringify(compiled));
  if (compiled.kind !== 'ok') throw new Error();
  return compiled.plan;
}

const pulled: Receipt = { mode: 'pull', effectiveAt: 1, cause: 'run', causeId: 'run_1' };

const made = (path: Plan, raw: RawRecord, arrival: Receipt) => {
  const statement = read(path, raw, arrival);
  return { ...decide(path, undefined, statement), statement };
};

function prepare(path: Plan, text: string, arrival = pulled) {
  const found = path.shapers.pull.records(parseJson(text));
  assert.ok(found.kind === 'ok', JSON.stringify(found));
  return found.records.map((raw) => made(path, raw, arrival));
}

const bare = '"check_in":"2026-03-01","check_out":"2026-03-02","status":"confirmed"';

test('a 20-digit number as id arrives unchanged, and money to the digit', () => {
  const path = pathOf({});
  const [one] = prepare(path, `[{"id":12345678901234567890,"total_amount":12345678901234567.89,${bare}}]`);
  assert.equal(one?.kind, 'change');
  if (one?.kind !== 'change') return;
  assert.equal(one.statement.id, '12345678901234567890');
  assert.equal((one.record as { total_amount: string }).total_amount, '12345678901234567.89');
});

test('a single answer is read by its own map, whether the list is nested or flat', () => {
  const request = { path: '/r', query: { from: '{window.from}', to: '{window.to}' } };
  const single = { path: '/r/{id}', map: { channel: 'origin', guests: { from: 'people' } } };
  const answer = `{"booking":{"id":"A","origin":"BDC","src":"web","guests":[{"last_name":"No"}],"people":[{"last_name":"Reis"}],${bare}}}`;
  const read = (connector: JsonObject) => {
    const path = pathOf({ pull: { request, single }, ...connector });
    const found = path.shapers.single.single(parseJson(answer));
    assert.ok(found.kind === 'ok', JSON.stringify(found));
    const one = made(path, found.record, { ...pulled, mode: 'single', cause: 'event' });
    assert.ok(one.kind === 'change', JSON.stringify(one));
    return { ...one, origins: path.shapers.single.origins(found.record) };
  };
  const nested = read({ shape: { root_path: 'list', single_path: 'booking' }, map: { source: 'src', channel: 'ch' } });
  assert.deepEqual(
    { ...nested.record, origins: nested.origins },
    {
      id: 'A',
      check_in: '2026-03-01',
      check_out: '2026-03-02',
      status: 'confirmed',
      channel: 'BDC',
      source: 'web',
      guests: [{ last_name: 'Reis' }],
      rooms: [],
      charges: [],
      origins: {
        id: 'id',
        check_in: 'check_in',
        check_out: 'check_out',
        status: 'status',
        channel: 'origin',
        source: 'src',
        'guests[0].last_name': 'people[0].last_name',
      },
    },
  );
  const flat = read({
    shape: { single_path: 'booking', flat: { key: 'res_no' } },
    map: { id: 'res_no', source: 'src' },
  });
  assert.deepEqual([flat.statement.id, (flat.record as { source?: string }).source], ['A', undefined]);
});

test('a status that is not text is reported once', () => {
  const [one] = prepare(pathOf({}), '[{"id":"A","check_in":"2026-03-01","check_out":"2026-03-02","status":["x"]}]');
  assert.ok(one?.kind === 'dead');
  assert.equal(one.deadLetter.message, 'status must be a known status (received: a list)');
});

test('one bad record is a dead letter that names field and rule and no value; the other records continue', () => {
  const path = pathOf({});
  const prepared = prepare(
    path,
    `[{"id":"A",${bare}},{"id":"B","check_in":"2026-02-30","check_out":"2026-03-02","status":"confirmed",
      "guests":[{"last_name":"Sharp","date_of_birth":"1990-13-01"}]},{"id":"C",${bare}}]`,
  );
  assert.deepEqual(
    prepared.map(({ kind }) => kind),
    ['change', 'dead', 'change'],
  );
  const [, dead] = prepared;
  if (dead?.kind !== 'dead') return;
  assert.equal(dead.deadLetter.id, 'B');
  assert.equal(dead.deadLetter.code, 'record.invalid');
  assert.equal(dead.deadLetter.message, 'check_in must be a real date, YYYY-MM-DD (received: text)');
  assert.doesNotMatch(dead.deadLetter.message, /1990|Sharp/);
});

test('one bad field does not make the booking a dead letter: it is left out with a note', () => {
  const [one] = prepare(
    pathOf({}),
    `[{"id":"A",${bare},"currency":"EURO","total_amount":80,"booking_date":"soon",
       "guests":[{"last_name":"Lund","nationality":"Atlantis","document_type":["P"],"marketing_consent":"maybe"}]}]`,
  );
  if (one?.kind !== 'change') return assert.fail(JSON.stringify(one));
  const record = one.record as unknown as Record<string, unknown>;
  assert.deepEqual(record.guests, [{ last_name: 'Lund' }]);
  assert.equal(record.total_amount, '80');
  assert.ok(!('currency' in record || 'booking_date' in record));
  assert.deepEqual(
    one.notes.filter(({ code }) => code === 'invalid_dropped').map(({ field }) => field),
    ['booking_date', 'currency', 'guests[0].nationality', 'guests[0].document_type', 'guests[0].marketing_consent'],
  );
});

test('if_invalid: dead_letter makes a field strict', () => {
  const path = pathOf({ map: { currency: { if_invalid: 'dead_letter' } } });
  const [one] = prepare(path, `[{"id":"A",${bare},"currency":"EURO"}]`);
  assert.equal(one?.kind, 'dead');
});

test('a record with an unusable id is a dead letter without that id, which the database would refuse', () => {
  const long = 'x'.repeat(9_000);
  const prepared = prepare(pathOf({}), `[{"id":"A\\u0000",${bare}},{"id":"${long}",${bare}},{"id":"C",${bare}}]`);
  assert.deepEqual(
    prepared.map((one) => (one.kind === 'dead' ? [one.deadLetter.code, one.deadLetter.id] : one.kind)),
    [['record.id_unusable', undefined], ['record.id_unusable', undefined], 'change'],
  );
});

test('every step leaves its notes, in the order of the path', () => {
  const path = pathOf({}, { transforms: [{ when: 'channel == "BDC"', set: { source: '"OTA"' }, note: 'sites' }] });
  const [one] = prepare(path, `[{"id":"A",${bare},"channel":"BDC","guests":[{"phone":"912 345 678"}]}]`);
  if (one?.kind !== 'change') return assert.fail(JSON.stringify(one));
  assert.deepEqual(
    one.notes.map(({ step, field }) => [step, field]),
    [
      ['normalize', 'guests[0].phone'],
      ['transform', 'source'],
    ],
  );
  assert.equal(path.shapers.pull.origins(one.statement.raw)['guests[0].phone'], 'guests[0].phone');
});

test('values from rules are cleaned like values from partners', () => {
  const path = pathOf({}, { transforms: [{ set: { 'guests[].email': '" Desk@Hotel.Example "' } }] });
  const [one] = prepare(path, `[{"id":"A",${bare},"guests":[{"last_name":"Moura"}]}]`);
  if (one?.kind !== 'change') return assert.fail(JSON.stringify(one));
  assert.equal((one.record as { guests: { email: string }[] }).guests[0]?.email, 'desk@hotel.example');
});

test('a guest that a rule leaves without any field disappears', () => {
  const path = pathOf({}, { transforms: [{ when: 'guest.last_name == "Walkin"', drop: ['guests[].last_name'] }] });
  const [one] = prepare(path, `[{"id":"A",${bare},"guests":[{"last_name":"Walkin"},{"last_name":"Moura"}]}]`);
  if (one?.kind !== 'change') return assert.fail(JSON.stringify(one));
  assert.deepEqual((one.record as { guests: JsonObject[] }).guests, [{ last_name: 'Moura' }]);
  return undefined;
});

test('modifiers without a source apply to the field of the same name, in the record, in lists and in events', () => {
  const path = pathOf({
    map: {
      check_in: { date: 'DD/MM/YYYY' },
      total_amount: { minor_units: 2 },
      guests: { fields: { date_of_birth: { date: 'DD.MM.YYYY' } } },
      charges: { fields: { amount: { negate: true } } },
    },
  });
  const text = `{"id":"A","check_in":"01/03/2026","check_out":"2026-03-02","status":"confirmed","total_amount":12050,"guests":[{"date_of_birth":"02.03.1970"}],"charges":[{"amount":3}]}`;
  const [one] = prepare(path, `[${text}]`);
  const event = path.shapers.push.single(parseJson(text));
  assert.ok(event.kind === 'ok');
  const pushed = made(path, event.record, { ...pulled, mode: 'push', cause: 'event' });
  for (const each of [one, pushed]) {
    if (each?.kind !== 'change') return assert.fail(JSON.stringify(each));
    const { check_in, total_amount, guests, charges } = each.record as unknown as JsonObject;
    assert.deepEqual(
      { check_in, total_amount, guests, charges },
      {
        check_in: '2026-03-01',
        total_amount: '120.5',
        guests: [{ date_of_birth: '1970-03-02' }],
        charges: [{ amount: '-3' }],
      },
    );
  }
  return undefined;
});

test('a bare row of a further list changes a stored reservation only if the connector says so', () => {
  const prepared = (also: JsonObject) => {
    const path = pathOf({
      shape: { root_path: 'list', also: [{ path: 'gone', set: { status: 'cancelled' }, ...also }] },
    });
    const [whole, bareRow] = prepare(path, `{"list":[{"id":"A",${bare}}],"gone":[{"id":"B"}]}`);
    assert.equal(whole?.kind, 'change');
    return bareRow;
  };
  const partial = prepared({ partial: true });
  assert.ok(partial?.kind === 'dead' && partial.statement.content !== undefined);
  assert.deepEqual([partial.statement.source, partial.statement.scope.fields], ['single', 'partial']);
  assert.equal(prepared({})?.statement.content, undefined);
});

test('a rule can drop a record', () => {
  const path = pathOf({}, { transforms: [{ when: 'status == "confirmed"', drop: true, note: 'only past stays' }] });
  const [one] = prepare(path, `[{"id":"A",${bare}}]`);
  assert.equal(one?.kind, 'dropped');
  if (one?.kind === 'dropped') assert.match(one.reason, /only past stays/);
});

test('an event as the interface describes it needs no mapping', () => {
  const path = pathOf({ map: { total_amount: 'totals.gross' } });
  const data = parseJson(
    `{"reservation_id":"R9",${bare},"guests":[{"first_name":"ANNA"}],"stays":[{"room_type":"Double","board_type":"HB","adults":2}]}`,
  );
  const found = path.shapers.push.single(data);
  if (found.kind !== 'ok') return assert.fail(JSON.stringify(found));
  const one = made(path, found.record, { mode: 'push', effectiveAt: 1, cause: 'event', causeId: '1' });
  if (one.kind !== 'change') return assert.fail(JSON.stringify(one));
  assert.deepEqual(one.record, {
    id: 'R9',
    check_in: '2026-03-01',
    check_out: '2026-03-02',
    status: 'confirmed',
    guests: [{ first_name: 'Anna' }],
    rooms: [{ room_type: 'Double', board: 'HB', adults: 2 }],
    charges: [],
  });
});

test('a record for which `where` does not hold is dropped, complete or not, and events only by their own condition', () => {
  const path = pathOf({ map: { where: { kind: 'guest' } } });
  const [kept, complete, block] = prepare(
    path,
    `[{"id":"A","kind":"guest",${bare}},{"id":"B","kind":"owner",${bare}},{"id":"C"}]`,
  );
  assert.deepEqual([kept?.kind, complete?.kind, block?.kind], ['change', 'dropped', 'dropped']);
  assert.ok(complete?.kind === 'dropped' && complete.reason.includes('map.where'));
  assert.equal(finish(path, complete.statement, { id: 'B' }).kind, 'dropped', 'also once merged');
  const event = parseJson(`{"reservation_id":"A",${bare}}`);
  const isExcluded = (own: Plan) => {
    const found = own.shapers.push.single(event);
    assert.ok(found.kind === 'ok');
    return own.shapers.push.draft(found.record).isExcluded ?? false;
  };
  assert.equal(isExcluded(path), false);
  assert.equal(isExcluded(pathOf({ push: { map: { where: { kind: 'guest' } } } })), true);
});

test('a rule that sets a phone or an e-mail address removes what the partner wrote instead', () => {
  const transforms = [{ set: { 'guests[].phone': '"+31612345678"', 'guests[].email': '"a@one.example"' } }];
  const [one] = prepare(
    pathOf({}, { transforms }),
    `[{"id":"A",${bare},"guests":[{"last_name":"Reis","phone":"12","email":"no"}]}]`,
  );
  assert.ok(one?.kind === 'change', JSON.stringify(one));
  assert.deepEqual((one.record as { guests: unknown }).guests, [
    { last_name: 'Reis', email: 'a@one.example', phone: '+31612345678' },
  ]);
});

test('the note about an empty object names the cure', () => {
  const [one] = prepare(pathOf({}), `[{"id":"A",${bare},"source":{}}]`);
  assert.ok(one?.kind === 'change');
  assert.match(one.notes[0]?.reason ?? '', /map the field with empty: \[\{\}\]/);
});

test('what overruled a late event is named: the list only once it repeated its row for the lag', () => {
  const path = pathOf({});
  const minute = 60_000;
  const at = (minutes: number) => 1_790_000_000_000 + minutes * minute;
  const saying = (channel: string, arrival: Receipt): ReturnType<typeof read> =>
    read(path, { key: 'A', value: parseJson(`{"id":"A","channel":"${channel}",${bare}}`) }, arrival);
  const event = (minutes: number): Receipt => ({
    mode: 'push',
    effectiveAt: at(minutes),
    cause: 'event',
    causeId: '1',
  });
  const stored = (decision: ReturnType<typeof decide>, sightedAt: number): Stored => {
    assert.ok(decision.kind === 'change', JSON.stringify(decision));
    const { version, event: made, text, state: kept } = decision;
    return { version, event: made, text, ...kept, sightedAt };
  };
  const listed = decide(path, undefined, saying('web', { ...pulled, effectiveAt: at(0) }));
  const changed = decide(path, stored(listed, at(0)), saying('phone', event(10)));
  const byEvent = decide(path, stored(changed, at(15)), saying('desk', event(5)));
  assert.ok(byEvent.kind === 'superseded');
  assert.equal(byEvent.reason, newerIsStored);
  const byList = decide(path, stored(listed, at(45)), saying('desk', event(5)));
  assert.ok(byList.kind === 'superseded');
  assert.equal(
    byList.reason,
    `The partner's list, requested at ${new Date(at(45)).toISOString()}, more than 30 minutes later, still showed the stored state.`,
  );
});
