import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { innbound as command, type Ran } from '../support/process.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'innbound-map-'));
after(() => rmSync(dir, { recursive: true }));

mkdirSync(path.join(dir, 'connectors'));
writeFileSync(path.join(dir, 'connectors', 'desk.yaml'), 'connector: desk\nmap: { check_in: from, check_out: to }\n');
const record = { id: 'R1', from: '2026-05-01T23:30:00Z', to: '2026-05-03T10:00:00Z', status: 'confirmed', vip: true };
const sample = path.join(dir, 'response.json');
writeFileSync(sample, JSON.stringify([record, { ...record, note: 'late' }]));

async function innbound(...args: string[]): Promise<Ran> {
  const ran = await command(args, { env: { INNBOUND_WORKSPACE: dir } });
  if (ran.code !== 0) throw Object.assign(new Error(ran.stderr), ran);
  return ran;
}
const map = (...args: string[]) => innbound('map', 'desk', '--sample', sample, ...args);

test('map warns of what it assumes about the property, and reports a repeated id', async () => {
  const { stdout, stderr } = await map('--json');
  assert.match(stderr, /without --integration, times are read in UTC \(--timezone\) and local phone numbers/);
  assert.match(stderr, /2 records have the id R1/);
  assert.equal((JSON.parse(stdout.split('\n')[0] ?? '') as { check_in: string }).check_in, '2026-05-01');
  const there = await map('--json', '--timezone', 'Europe/Lisbon', '--country', 'PT');
  assert.doesNotMatch(there.stderr, /without --integration/);
  assert.equal((JSON.parse(there.stdout.split('\n')[0] ?? '') as { check_in: string }).check_in, '2026-05-02');
});

test('map lists each unmapped field once', async () => {
  const { stdout } = await map('--timezone', 'UTC', '--country', 'PT');
  assert.deepEqual(stdout.split('not mapped:').length, 2);
  assert.match(stdout, /not mapped:\n {2}vip\n {2}note \(in 1 of 2 records\)/);
});

test('map names paths of the mapping that match nothing in any record', async () => {
  const lines = [
    'connector: gaps',
    'map:',
    '  check_in: from',
    '  check_out: { path: to }',
    '  confirmation_number: confNo',
    '  channel: { first: [vip, agency] }',
    '  guests: { from: persons, fields: { email: mail } }',
    '  rooms: { from: units }',
    '  charges: { from: lines, where: { kind: fee }, fields: { amount: price } }',
  ];
  writeFileSync(path.join(dir, 'connectors', 'gaps.yaml'), `${lines.join('\n')}\n`);
  const file = path.join(dir, 'gaps.json');
  const one = { ...record, persons: [], units: [{ room_type: 'DBL' }], lines: [{ type: 'fee', price: 3 }] };
  writeFileSync(file, JSON.stringify([one, { ...one, id: 'R2', agency: null }]));
  const { stderr } = await innbound('map', 'gaps', '--sample', file, '--timezone', 'UTC', '--country', 'PT');
  const named = [...stderr.matchAll(/^ {2}(.*)$/gm)].map(([, text]) => text);
  // `agency` is null in one record, and there is no guest in which `mail` could be found.
  assert.deepEqual(named, ['map.confirmation_number: confNo', 'map.charges.where.kind: kind']);
  assert.match(stderr, /match nothing in any of the 2 records/);
});

test('a broken document does not block map for another connector', async () => {
  mkdirSync(path.join(dir, 'integrations'), { recursive: true });
  writeFileSync(path.join(dir, 'connectors', 'broken.yaml'), 'connector: broken\nmap: { idd: x }\n');
  writeFileSync(path.join(dir, 'integrations', 'broken.yaml'), 'integration: lost\nconnector: nowhere\n');
  assert.equal((await map('--json')).stdout.trim().split('\n').length, 2);
  const own = await innbound('map', 'broken', '--sample', sample).catch(
    (error: unknown) => error as { stderr: string },
  );
  assert.match(own.stderr, /connectors\/broken\.yaml:2:8 map\.idd: unknown key idd; did you mean id\?/);
});

test('a shipped connector needs no workspace', async () => {
  const file = path.join(dir, 'response.json');
  const empty = mkdtempSync(path.join(dir, 'empty-'));
  const list = JSON.stringify([{ id: 'R1', check_in: '2026-05-01', check_out: '2026-05-02', status: 'confirmed' }]);
  writeFileSync(path.join(empty, 'list.json'), list);
  const { stdout } = await innbound(
    'map',
    'reference-bare',
    '--sample',
    path.join(empty, 'list.json'),
    '-w',
    empty,
    '--json',
  );
  assert.equal((JSON.parse(stdout) as { id: string }).id, 'R1');
  const unknown = await innbound('map', 'desk', '--sample', file, '-w', empty).catch(
    (error: unknown) => error as { stderr: string },
  );
  assert.match(unknown.stderr, /There is no connector desk; known connectors: apaleo, /);
});

test('a wrong time zone is a usage error', async () => {
  const failed = await map('--timezone', 'Lisbon').catch((error: unknown) => error as { stderr: string });
  assert.match(failed.stderr, /operate\.usage: timezone "Lisbon" is not an IANA time zone/);
});

test('a bare row of a second list shows what it adds, and is not a failure', async () => {
  const also = 'also: [{ path: gone, set: { status: cancelled }, partial: true }]';
  const feed = `connector: feed\nshape: { root_path: list, ${also} }\nmap: { check_in: from, check_out: to }\n`;
  writeFileSync(path.join(dir, 'connectors', 'feed.yaml'), feed);
  const file = path.join(dir, 'feed.json');
  writeFileSync(file, JSON.stringify({ list: [record], gone: [{ id: 'R1' }, { id: 'R0' }] }));
  const { stdout, stderr } = await innbound('map', 'feed', '--sample', file, '--json', '--timezone', 'UTC');
  const lines = stdout.trim().split('\n');
  const bare = lines.slice(1).map((line) => JSON.parse(line) as { id: string; status: string });
  assert.deepEqual(
    bare.map(({ id, status }) => [id, status]),
    [
      ['R1', 'cancelled'],
      ['R0', 'cancelled'],
    ],
  );
  assert.doesNotMatch(stderr, /records have the id/);
});

test('map --push reads a cancellation as the service does', async () => {
  const file = path.join(dir, 'event.json');
  writeFileSync(file, JSON.stringify({ event: 'reservation.cancelled', data: { ...record, reservation_id: 'R1' } }));
  const { stdout } = await innbound('map', 'desk', '--sample', file, '--push', '--timezone', 'UTC', '--json');
  assert.equal((JSON.parse(stdout) as { status: string }).status, 'cancelled');
});

test('map --push takes the message of a stream apart as its reader does', async () => {
  const streamed = `connector: streamed
pull: { single: { path: "/b/{id}" } }
stream:
  path: /live
  subscription: "subscription($after: String) { changed(after: $after) { seq } }"
  variables: { after: "{offset}" }
  event: changed
  offset: seq
push:
  event_id: seq
  envelope: { event: kind, names: { reservation.updated: CHANGED }, others: ignore, timestamp: at, brand: hotel, data: $item }
  thin: { id: stayNo }
`;
  writeFileSync(path.join(dir, 'connectors', 'streamed.yaml'), streamed);
  const file = path.join(dir, 'message.json');
  const mapped = async (changed: object, wrap: (message: object) => object = (message) => message) => {
    writeFileSync(file, JSON.stringify(wrap({ data: { changed } })));
    return await innbound('map', 'streamed', '--sample', file, '--push', '--timezone', 'UTC').catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
  };
  const event = { seq: 7, kind: 'CHANGED', stayNo: 'S-1', hotel: 'OSL1', at: '2026-11-01T10:00:00Z' };
  for (const wrap of [undefined, (payload: object) => ({ id: '1', type: 'next', payload })]) {
    const { stdout, stderr } = await mapped(event, wrap);
    assert.match(
      stdout,
      /^→ S-1: reservation\.updated 7 of the property OSL1 names a reservation, which pull\.single then requests/,
    );
    assert.doesNotMatch(stderr, /match nothing/);
  }
  const { hotel: _, ...nowhere } = event;
  assert.match((await mapped(nowhere)).stderr, /push\.envelope\.brand finds nothing at \/hotel/);
  assert.match((await mapped({ ...event, kind: 'MOVED' })).stderr, /push\.envelope ignores the event/);
  const wrong = await mapped(event, () => ({ data: { altered: event } }));
  assert.match(wrong.stderr, /stream\.event finds nothing at \/data\/changed/);
});

test('map --push explains a thin event, and an envelope that the endpoint would refuse', async () => {
  const envelope =
    '{ each: list, event: type, names: { reservation.updated: changed }, timestamp: false, brand: false }';
  const thin = `connector: thin\npull: { request: { path: /l }, window: none, pagination: { type: none }, single: { path: "/b/{id}" } }\npush: { envelope: ${envelope}, thin: { id: ref } }\n`;
  writeFileSync(path.join(dir, 'connectors', 'thin.yaml'), thin);
  const file = path.join(dir, 'thin.json');
  const mapped = async (list: unknown) => {
    writeFileSync(file, JSON.stringify({ list }));
    return await innbound('map', 'thin', '--sample', file, '--push', '--timezone', 'UTC').catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
  };
  const { stdout } = await mapped([{ type: 'changed', data: { ref: 'B-7' } }]);
  assert.match(stdout, /B-7: The event names a reservation, which pull\.single then requests/);
  const { stderr } = await mapped([{ type: 'moved', data: { ref: 'B-7' } }]);
  assert.match(stderr, /push\.bad_envelope: \/list\/0\/type: type is not a supported event type/);
});

test('map reads a sample as the connector’s adapter does, and JSON that it has already made', async () => {
  const xml = path.join(dir, 'response.xml');
  const request = '{ path: /list, query: { from: "{window.from}", to: "{window.to}" } }';
  const mapping = `shape: { root_path: List.Stay, object_is_one: true }\nmap: { check_in: From, check_out: To, id: "'@id'", status: State }\n`;
  const connector = `connector: soap\npull: { adapter: xml, request: ${request} }\n${mapping}`;
  writeFileSync(path.join(dir, 'connectors', 'soap.yaml'), connector);
  const stay = '<Stay id="7"><From>2026-05-01</From><To>2026-05-02</To><State>confirmed</State></Stay>';
  writeFileSync(xml, `<List>${stay}</List>`);
  const made = path.join(dir, 'made.json');
  writeFileSync(made, '{"List":{"Stay":{"@id":"7","From":"2026-05-01","To":"2026-05-02","State":"confirmed"}}}');
  for (const file of [xml, made]) {
    const { stdout } = await innbound('map', 'soap', '--sample', file, '--json');
    assert.equal((JSON.parse(stdout) as { id: string }).id, '7', file);
  }
  writeFileSync(xml, '<List><Stay></List>');
  const failed = await innbound('map', 'soap', '--sample', xml).catch((error: { stderr: string }) => error);
  assert.match(failed.stderr, /pull\.xml: The adapter cannot read the sample: .*line 1, column \d+/);
});

test('map prints the source of each field once, and an object of days in one line', async () => {
  const file = path.join(dir, 'days.json');
  const days = { '2026-05-01': { price: 3 }, '2026-05-02': { price: 4 } };
  const guests = [{ last_name: 'Lund' }, { last_name: 'Reis' }];
  writeFileSync(
    file,
    JSON.stringify([
      { ...record, days, guests },
      { ...record, id: 'R2', days },
    ]),
  );
  const { stdout } = await innbound('map', 'desk', '--sample', file, '--timezone', 'UTC', '--country', 'PT');
  assert.equal(stdout.match(/← from$/gm)?.length, 1);
  assert.equal(stdout.match(/guests\[\]\.last_name +← guests\[\]\.last_name$/gm)?.length, 1);
  assert.equal(stdout.match(/^ {2}days\.?\[?.*\(date\).*$/gm)?.length, 1, stdout);
});

test('suggest reads XML by an adapter, and its proposal names the adapter', async () => {
  const xml = path.join(dir, 'response.xml');
  const stay =
    '<Stay id="7"><Arrival>2026-05-01</Arrival><Departure>2026-05-02</Departure><Status>confirmed</Status></Stay>';
  writeFileSync(xml, `<?xml version="1.0"?><List>${stay}${stay.replace('7', '8')}</List>`);
  await assert.rejects(innbound('suggest', '--sample', xml), /not JSON.*--adapter/);
  const { stdout } = await innbound('suggest', '--sample', xml, '--adapter', 'xml', '--name', 'by-xml');
  assert.match(stdout, /^ {2}adapter: xml$/m);
  writeFileSync(path.join(dir, 'connectors', 'by-xml.yaml'), stdout);
  const mapped = await innbound('map', 'by-xml', '--sample', xml, '--json');
  assert.equal((JSON.parse(mapped.stdout.split('\n')[0] ?? '') as { id: string }).id, '7');
});
