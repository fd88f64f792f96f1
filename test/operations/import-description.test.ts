import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type ProposeOptions, proposalYaml } from '../../packages/suggest/src/index.ts';
import { checkFiles } from '../../src/core/documents/check.ts';
import { importDescription } from '../../src/operator/operations/import-description.ts';
import type { Json, JsonObject } from '../../src/terms.ts';
import { expected } from './descriptions/expected.ts';

const folder = new URL('./descriptions/', import.meta.url);
const textOf = (file: string) => readFile(new URL(file, folder), 'utf8');

async function proposed(text: string, options: ProposeOptions = {}) {
  const imported = await importDescription(text, options);
  assert.ok(imported.kind === 'ok', imported.kind === 'wrong' ? imported.message : '');
  return imported.proposal;
}

function part(document: JsonObject, ...path: string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => (value as JsonObject | undefined)?.[key], document);
}

test('Swagger 2: nested bookings, header credentials and a selected date become request, auth, paging and shape', async () => {
  const { connector, integration, operations } = await proposed(await textOf('swagger-bookings.yaml'));
  assert.deepEqual(
    operations.map(({ operation }) => operation),
    ['GET /bookings'],
  );
  assert.deepEqual(part(connector, 'pull', 'request'), {
    method: 'GET',
    path: '/bookings',
    query: {
      from: '{window.from}',
      to: '{window.to}',
      dateMode: 'StayDate',
      hotelId: '{brand_id}',
      inlineCount: 'AllPages',
    },
  });
  assert.deepEqual(part(connector, 'pull', 'pagination'), {
    type: 'offset',
    offset: 'query.skip',
    limit: 'query.top',
    page_size: 100,
    total: '_count',
  });
  assert.equal(part(connector, 'shape', 'root_path'), 'bookings[].reservations');
  assert.equal(part(connector, 'map', 'confirmation_number'), '$parent.confirmation_id');
  assert.equal(part(connector, 'map', 'total_amount'), undefined, 'a balance is not the price');
  assert.equal(part(connector, 'map', 'guests', 'from'), 'guests');
  assert.deepEqual(part(connector, 'values', 'status', 'confirmed'), ['Guaranteed']);
  assert.equal(part(integration, 'pull', 'base_url'), 'https://api.harbour.example/v2');
  assert.deepEqual(part(integration, 'pull', 'auth', 'type'), 'custom');
  assert.deepEqual(Object.keys(part(integration, 'pull', 'auth', 'headers') as object), ['App-Id', 'App-Key']);
});

test('OpenAPI 3: a POST search with the window in the body, in the format of its example, and paging in the query', async () => {
  const { connector, integration, notes } = await proposed(await textOf('openapi-search.json'));
  assert.deepEqual(part(connector, 'pull', 'request'), {
    method: 'POST',
    path: '/reservations/search',
    query: { modelType: 'full' },
    body: { arriveFrom: '{window.from} 00:00:00', arriveTo: '{window.to} 23:59:59' },
  });
  assert.deepEqual(part(connector, 'pull', 'single'), { path: '/reservations/{id}' });
  assert.equal(part(connector, 'pull', 'pagination', 'offset'), 'query.offset');
  assert.equal(part(connector, 'shape', 'root_path'), undefined);
  assert.deepEqual(part(connector, 'map', 'guests', 'fields'), {
    guest_id: 'guestId',
    first_name: 'guestGiven',
    last_name: 'guestSurname',
  });
  assert.deepEqual(part(connector, 'values', 'status', 'checked_in'), ['arrived'], 'from the filter of the request');
  assert.equal(part(integration, 'pull', 'base_url'), 'https://eu.pine.example/rest');
  const auth = part(integration, 'pull', 'auth') as JsonObject;
  assert.deepEqual([auth.type, auth.path, auth.header, auth.value], ['login', '/authToken', 'authtoken', '{token}']);
  assert.match(String((auth.body as JsonObject).agentPassword), /^\$\{secret:agent-password\}$/);
  assert.ok(notes.some((note) => note.includes('day of arrival')));
});

test('an API key in a cookie is sent as a cookie, also next to a login call', async () => {
  const inQuery = '{ type: apiKey, in: query, name: apiKey }';
  const inCookie = (await textOf('openapi30-fjord.yaml')).replace(
    inQuery,
    '{ type: apiKey, in: cookie, name: AUTH_TOKEN }',
  );
  const login = '  /login:\n    post: { responses: { "200": { description: A token } } }\n';
  for (const text of [inCookie, inCookie.replace(/^paths:\n/m, `paths:\n${login}`)]) {
    const { integration, notes } = await proposed(text);
    assert.deepEqual(part(integration, 'pull', 'auth'), {
      type: 'custom',
      headers: { Cookie: `AUTH_TOKEN=\${secret:auth-token}` },
    });
    assert.ok(notes.some((note) => note.includes('cookie AUTH_TOKEN')));
  }
});

test('Postman: saved responses decide shape and mapping', async () => {
  const { connector, integration, fields } = await proposed(await textOf('postman.json'));
  assert.deepEqual(part(connector, 'pull', 'request', 'query'), {
    startDate: '{window.from}',
    endDate: '{window.to}',
  });
  assert.deepEqual(part(connector, 'pull', 'pagination', 'page'), 'query.page');
  assert.deepEqual(part(connector, 'pull', 'single'), { path: '/v1/reservations/{id}' });
  assert.equal(part(connector, 'shape', 'single_path'), 'reservation');
  assert.equal(part(connector, 'map', 'id'), 'reservationId');
  assert.deepEqual(part(connector, 'values', 'status', 'cancelled'), ['CXL']);
  assert.equal(part(integration, 'pull', 'base_url'), 'https://api.cliff.example');
  assert.equal(part(integration, 'pull', 'auth', 'type'), 'bearer');
  assert.ok(fields.every(({ reason }) => !reason.includes('no value of it was seen')));
});

test('Postman: credentials of the exported collection are left out', async () => {
  const collection = (await textOf('postman.json'))
    .replaceAll('https://api.cliff.example', 'https://clerk:swordfish@api.cliff.example')
    .replace('"header": []', '"header": [{ "key": "X-Api-Key", "value": "swordfish" }]');
  const { connector, integration } = await proposed(collection);
  assert.equal(part(integration, 'pull', 'base_url'), 'https://api.cliff.example');
  assert.doesNotMatch(JSON.stringify([connector, integration]), /swordfish/);
});

test('a sample beside the description decides the mapping, the description the request', async () => {
  const row = (id: number, state: string) => ({
    id,
    arrivalDate: '2026-06-01',
    departureDate: '2026-06-03',
    status: state,
    owner: { guestEmail: `g${id}@mail.example` },
  });
  const { connector } = await proposed(await textOf('openapi-search.json'), {
    sample: [row(1, 'confirmed'), row(2, 'WALKOUT')],
  });
  assert.equal(part(connector, 'pull', 'request', 'path'), '/reservations/search');
  assert.equal(part(connector, 'map', 'guests', 'fields', 'first_name'), undefined);
});

for (const [file, wanted] of Object.entries(expected)) {
  test(`${file}: request, auth, paging, root path and mapping`, async () => {
    const { connector, integration } = await proposed(await textOf(file));
    assert.deepEqual(part(connector, 'pull', 'request'), wanted.request);
    assert.deepEqual(part(connector, 'pull', 'pagination'), wanted.pagination);
    assert.equal(part(connector, 'shape', 'root_path'), wanted.root);
    assert.equal(part(connector, 'pull', 'single', 'path'), wanted.single);
    assert.equal(part(integration, 'pull', 'base_url'), wanted.baseUrl);
    const auth = part(integration, 'pull', 'auth') as JsonObject;
    assert.deepEqual(Object.fromEntries(Object.keys(wanted.auth).map((key) => [key, auth[key]])), wanted.auth);
    const map = Object.keys(wanted.map).map((path) => [path, part(connector, 'map', ...path.split('.'))]);
    assert.deepEqual(Object.fromEntries(map), wanted.map);
    assert.deepEqual(part(connector, 'values', 'status'), wanted.status);
  });
}

test('every proposal is a valid connector, with a reason for each line', async () => {
  for (const file of ['swagger-bookings.yaml', 'openapi-search.json', 'postman.json', ...Object.keys(expected)]) {
    const proposal = await proposed(await textOf(file), { name: 'proposed' });
    const text = proposalYaml(proposal);
    const checked = checkFiles([{ kind: 'connector', file: 'connectors/proposed.yaml', text }]);
    const mistakes =
      checked.kind === 'invalid' ? checked.mistakes.filter((one) => one.file === 'connectors/proposed.yaml') : [];
    assert.deepEqual(mistakes, [], file);
    for (const { field, confidence, reason } of proposal.fields)
      assert.ok(reason !== '' && confidence > 0, `${file}: ${field}`);
    assert.match(text, /# {3}pull:\n# {5}base_url: https/);
  }
});

test('made-up values are not proposed as spellings, and lines without a seen value say so', async () => {
  const { connector, fields } = await proposed(await textOf('openapi-search.json'));
  assert.deepEqual(Object.keys(part(connector, 'values') as object), ['status']);
  assert.match(fields.find(({ field }) => field === 'check_in')?.reason ?? '', /no value of it was seen/);
});

test('references to other files and addresses are never followed', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const text = (await textOf('openapi-search.json'))
    .replace('"#/components/schemas/searchBody"', `"${address}/search.json"`)
    .replace(
      '"status": { "type": "string" }',
      `"status": { "$ref": "${address}/status.json" }, "file": { "$ref": "file:///etc/hostname" }`,
    );
  const { connector } = await proposed(text, { operation: 'POST /reservations/search' });
  server.close();
  await once(server, 'close');
  assert.equal(requests, 0);
  assert.equal(part(connector, 'pull', 'request', 'body'), undefined);
});

test('a text that is not a description, or lists no reservations, is refused with the reason', async () => {
  const message = async (text: string, options: ProposeOptions = {}) => {
    const imported = await importDescription(text, options);
    assert.ok(imported.kind === 'wrong');
    return imported.message;
  };
  assert.match(await message('not: [closed'), /not a JSON or YAML object/);
  assert.match(await message('{"a": 1}'), /not an API description/);
  assert.match(await message('{"openapi": "3.0.0", "paths": {}}'), /None of the 0 operations/);
  assert.match(
    await message('{"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/none"}]}}}}'),
    /cannot be read/,
  );
  const text = await textOf('openapi-search.json');
  assert.match(await message(text, { operation: 'GET /nothing' }), /The operations are: POST \/authToken/);
});

test('a cursor is proposed where the answer names it in a header, is the last row’s id, or is not described', async () => {
  const row = { id: 'r1', check_in: '2026-05-01', check_out: '2026-05-03', status: 'confirmed', last_name: 'Reis' };
  const paging = async (parameter: string, example: Json, headers = {}) => {
    const names = ['arrival_from', 'arrival_to'].map((name) => ({ name, in: 'query', schema: { format: 'date' } }));
    const parameters = [...names, { name: parameter, in: 'query', schema: { type: 'string' } }];
    const schema = typed(example);
    const responses = { 200: { description: 'ok', headers, content: { 'application/json': { schema } } } };
    const info = { title: 'Cove', version: '1' };
    const text = JSON.stringify({
      openapi: '3.0.3',
      info,
      paths: { '/reservations': { get: { parameters, responses } } },
    });
    const { connector, fields } = await proposed(text);
    const sure = fields.find(({ field }) => field === 'pull.pagination')?.confidence ?? 0;
    return [part(connector, 'pull', 'pagination'), sure >= 0.8];
  };
  const cursor = (next: string, name: string, more = {}) => ({
    type: 'cursor',
    next,
    ...more,
    cursor: `query.${name}`,
  });
  assert.deepEqual(await paging('starting_after', { data: [row], has_more: true }), [
    cursor('data[-1].id', 'starting_after', { more: 'has_more' }),
    true,
  ]);
  assert.deepEqual(await paging('cursor', [row], { 'X-Next-Cursor': { schema: { type: 'string' } } }), [
    cursor('header.X-Next-Cursor', 'cursor'),
    true,
  ]);
  assert.deepEqual(await paging('cursor', [row]), [cursor('next_cursor', 'cursor'), false]);
  assert.deepEqual(await paging('limit', [row], { Link: { schema: { type: 'string' } } }), [
    { type: 'link', limit: 'query.limit', page_size: 200 },
    true,
  ]);
});

/** The JSON Schema of an example. */
function typed(example: Json): JsonObject {
  if (Array.isArray(example)) return { type: 'array', items: typed(example[0] ?? '') };
  if (typeof example !== 'object' || example === null) return { type: typeof example };
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(example).map(([key, one]) => [key, typed(one)])),
  };
}

test('a range that ends before a day asks for the day after the window', async () => {
  const text = await textOf('openapi-search.json');
  const before = await proposed(text.replaceAll('arriveTo', 'arriveBefore'));
  assert.deepEqual(part(before.connector, 'pull', 'request', 'body'), {
    arriveFrom: '{window.from} 00:00:00',
    arriveBefore: '{window.after} 00:00:00',
  });
});

test('Swagger 2: a list of changes becomes {since}; without any date the list is requested as a whole', async () => {
  const text = await textOf('swagger-changes.json');
  const { connector } = await proposed(text);
  assert.deepEqual(part(connector, 'pull', 'request'), {
    method: 'GET',
    path: '/hotels/{brand_id}/stays',
    query: { modifiedSince: '{since}' },
  });
  assert.equal(part(connector, 'pull', 'window'), undefined);
  assert.equal(part(connector, 'pull', 'pagination', 'type'), 'cursor');
  assert.equal(part(connector, 'map', 'total_amount'), 'totalIncVat');
  assert.equal(part(connector, 'map', 'rooms', 'fields', 'adults'), 'noOfAdults');
  const whole = JSON.parse(text) as { paths: Record<string, { get: { parameters: { name: string }[] } }> };
  const operation = whole.paths['/hotels/{hotelCode}/stays']?.get;
  if (operation) operation.parameters = operation.parameters.filter(({ name }) => name !== 'modifiedSince');
  const undated = await proposed(JSON.stringify(whole));
  assert.equal(part(undated.connector, 'pull', 'window'), 'none');
  const byDay = await proposed(text.replace('"format": "date-time"', '"format": "date"'));
  assert.deepEqual(part(byDay.connector, 'pull', 'request', 'query'), { modifiedSince: '{since:YYYY-MM-DD}' });
  assert.deepEqual(part(byDay.connector, 'pull', 'since'), { overlap: '1d' }, 'the partner’s day may begin later');
  const counted = text
    .replace('"format": "date-time"', '"description": "Unix time in milliseconds"')
    .replace(/("modifiedSince"[^}]*?"type": )"string"/, '$1"integer"');
  const inMs = await proposed(counted);
  assert.deepEqual(part(inMs.connector, 'pull', 'request', 'query'), { modifiedSince: '{since:epoch_ms}' });
  for (const one of [connector, undated.connector, byDay.connector]) {
    const file = { kind: 'connector' as const, file: 'connectors/new-pms.yaml', text: JSON.stringify(one) };
    assert.deepEqual(checkFiles([file]).kind, 'ok');
  }
});

const described = (list: object) =>
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Harbour', version: '1' },
    servers: [{ url: 'https://api.harbour.example' }],
    paths: { '/reservations': { get: { summary: 'List reservations', ...list } } },
  });
const stay = { type: 'string', format: 'date' };
const answers = (properties: object) => ({
  responses: {
    200: {
      description: 'ok',
      content: {
        'application/json': {
          schema: {
            type: 'array',
            items: {
              type: 'object',
              properties: { id: { type: 'string' }, arrival: stay, departure: stay, ...properties },
            },
          },
        },
      },
    },
  },
});
const query = (name: string, description: string) => ({ name, in: 'query', description, schema: { type: 'string' } });
const unanswered = { responses: { 200: { description: 'ok' } } };
const sample = [
  { id: 'R1', arrival: '2026-05-01', departure: '2026-05-03', status: 'CONF', guest: { surname: 'Reis' } },
];

test('an operation without a described answer takes its shape from the sample', async () => {
  const text = described({
    parameters: [
      { ...query('from', ''), schema: stay },
      { ...query('to', ''), schema: stay },
    ],
    ...unanswered,
  });
  const operation = 'GET /reservations';
  const { connector } = await proposed(text, { operation, sample });
  assert.deepEqual(part(connector, 'pull', 'request', 'query'), { from: '{window.from}', to: '{window.to}' });
  assert.equal(part(connector, 'map', 'check_in'), 'arrival');
  const refused = await importDescription(text, { operation });
  assert.match(refused.kind === 'wrong' ? refused.message : '', /--sample/);
});

test('a Postman request without a saved answer takes its shape from the sample', async () => {
  const url = {
    raw: 'https://api.harbour.example/reservations',
    host: ['https://api.harbour.example'],
    path: ['reservations'],
  };
  const text = JSON.stringify({
    info: { name: 'Harbour', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
    item: [{ name: 'List reservations', request: { method: 'GET', url }, response: [] }],
  });
  const { connector } = await proposed(text, { operation: 'GET /reservations', sample });
  assert.equal(part(connector, 'map', 'check_out'), 'departure');
});

test('parameters that decide what an answer contains are proposed, or named', async () => {
  const parameters = [query('include', 'Comma separated: guests, rooms, audit'), query('fields', 'Fields to return.')];
  const { connector, notes } = await proposed(described({ parameters, ...answers({ status: { type: 'string' } }) }));
  assert.equal(part(connector, 'pull', 'request', 'query', 'include'), 'guests,rooms');
  assert.ok(notes.some((note) => /^query\.fields decides/.test(note)));
});

test('a parameter that narrows an answer to fields is proposed with all of them, if the description names them', async () => {
  const items = { type: 'string', enum: ['id', 'arrival', 'guest'] };
  for (const [parameter, value] of [
    [{ ...query('fields', ''), schema: { type: 'array', items } }, items.enum],
    [query('fields', 'Comma separated list: id, arrival, departure, guest.'), 'id,arrival,departure,guest'],
    [query('select', 'The fields of an item, or "*" for all.'), '*'],
    [query('fields', 'The fields to return, for example: arrival'), undefined],
  ] as const) {
    const { connector, notes, fields } = await proposed(described({ parameters: [parameter], ...answers({}) }));
    assert.deepEqual(part(connector, 'pull', 'request', 'query', parameter.name), value);
    assert.equal(
      fields.some(({ field }) => field === `pull.request.query.${parameter.name}`),
      value !== undefined,
    );
    assert.equal(
      notes.some((note) => note.startsWith(`query.${parameter.name} decides`)),
      value === undefined,
    );
  }
});

test('a parameter that selects the stays of a range is proposed with a reason, from its values or its sentence', async () => {
  const range = [query('stayFrom', 'First day, YYYY-MM-DD'), query('stayTo', 'Last day, YYYY-MM-DD')];
  const asked = async (stayFilter: object) => {
    const whole = { parameters: [...range, stayFilter], ...answers({ status: { type: 'string' } }) };
    const proposal = await proposed(described(whole));
    return {
      value: part(proposal.connector, 'pull', 'request', 'query', 'stayFilter'),
      why: JSON.stringify(proposal.fields),
    };
  };
  const values = ['arriving', 'departing', 'overlapping'];
  const listed = await asked({ name: 'stayFilter', in: 'query', schema: { type: 'string', enum: values } });
  assert.equal(listed.value, 'overlapping');
  assert.match(listed.why, /stayFilter selects the day/);
  const told = await asked(query('stayFilter', 'One of "arrivals" (default), "departures" or "in_house".'));
  assert.equal(told.value, 'in_house');
});

test('a list without dates is announced as one that is read whole', async () => {
  const { notes } = await proposed(described(answers({ status: { type: 'string' } })));
  assert.ok(notes.some((note) => /every run reads the whole list/.test(note)));
});

test('statuses in a sentence become values, and without a sample no records are counted', async () => {
  const status = { type: 'string', description: 'CONF for a confirmed stay, CXL if it was cancelled, QQQ otherwise.' };
  const { connector, unknown } = await proposed(described(answers({ status })));
  assert.deepEqual(part(connector, 'values', 'status'), { confirmed: ['CONF'], cancelled: ['CXL'] });
  const coded = await proposed(described(answers({ status: { type: 'string', enum: ['AA', 'BB', 'CC'] } })));
  assert.ok([...unknown, ...coded.unknown].every((one) => !/record/.test(one)));
  assert.ok(coded.unknown.length > 0);
});

test('amounts that are described as cents are read as minor units', async () => {
  const charge = {
    type: 'object',
    properties: { description: { type: 'string' }, amount: { type: 'integer', description: 'In cents.' } },
  };
  const total = { type: 'integer', description: 'The total in minor units.' };
  const currency = { type: 'string', example: 'EUR' };
  const { connector } = await proposed(
    described(answers({ status: { type: 'string' }, total, currency, charges: { type: 'array', items: charge } })),
  );
  assert.deepEqual(part(connector, 'map', 'total_amount'), { path: 'total', minor_units: 'currency' });
  assert.deepEqual(part(connector, 'map', 'charges', 'fields', 'amount'), { path: 'amount', minor_units: 'currency' });
});
