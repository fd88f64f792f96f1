import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { drainOnce } from '../../../../src/core/deliver/deliveries.ts';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import { listen, type Received, type Reply } from '../../http-server.ts';
import { config, delivery, lane, openStore, ports, reservation, services, takeIn } from '../../support.ts';

/** How each preset handles the answers that its vendor documents. */

const variables = (preset: string, url: string): Record<string, string> => {
  if (preset === 'salesforce') return { instance_url: url };
  if (preset === 'dynamics') return { environment_url: url };
  if (preset === 'braze') return { endpoint: url };
  return preset === 'mailchimp' ? { base_url: `${url}/3.0`, list_id: 'L1' } : { base_url: url };
};

async function answered(t: TestContext, preset: string, reply: Reply | ((request: Received) => Reply), count = 16) {
  const server = await listen((request) => (typeof reply === 'function' ? reply(request) : reply));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = http.settings.parse({ preset, with: variables(preset, server.url) });
  const limits = {
    batch: http.batch(settings).most,
    deadlineMs: 30_000,
    leaseLeftMs: () => 60_000,
    extend: async () => true,
    signal: new AbortController().signal,
  };
  const batch = Array.from({ length: Math.min(count, limits.batch) }, (_, i) => delivery(reservation(`r${i}`)));
  return { outcomes: await http.open(settings, offered).deliver(batch, limits), received: server.received };
}

const limited: [preset: string, what: string, reply: Reply, afterMs: number][] = [
  [
    'salesforce',
    'the limit of the organisation',
    { status: 403, body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }] },
    300_000,
  ],
  ['mailchimp', 'a 403 without a body', { status: 403 }, 60_000],
  ['mailchimp', 'a 429 without Retry-After', { status: 429, body: { title: 'Too Many Requests' } }, 10_000],
  ['hubspot', '423, locked', { status: 423, body: { message: 'locked' } }, 2_000],
  ['hubspot', '477, account being migrated', { status: 477, headers: { 'retry-after': '7200' } }, 7_200_000],
  [
    'hubspot',
    'the daily limit',
    { status: 429, body: { status: 'error', policyName: 'DAILY', message: 'You have reached your daily limit.' } },
    3_600_000,
  ],
  ['braze', 'the limit of requests', { status: 429, body: { message: 'Rate limit exceeded' } }, 30_000],
  ['brevo', 'the limit of requests', { status: 429, body: { code: 'too_many_requests' } }, 30_000],
  [
    'dynamics',
    'a service protection limit',
    { status: 429, headers: { 'retry-after': '17' }, body: { error: { code: '0x80072322', message: 'exceeded' } } },
    17_000,
  ],
  ['hubspot', 'the limit of ten seconds', { status: 429, body: { policyName: 'TEN_SECONDLY_ROLLING' } }, 10_000],
];

for (const [preset, what, reply, afterMs] of limited) {
  test(`${preset}: ${what} waits without using a try, and stops the rest`, async (t) => {
    const { outcomes, received } = await answered(t, preset, reply);
    // Brevo takes one contact in a request, and two refusals in a row stop the rest.
    assert.equal(received.length, preset === 'brevo' ? 2 : 1);
    for (const outcome of outcomes) {
      assert.deepEqual(outcome.kind === 'retry' && [outcome.code, outcome.free, outcome.afterMs], [
        'deliver.rate_limited',
        true,
        afterMs,
      ]);
    }
  });
}

test('a limit never halves a batch, through the engine', async (t) => {
  const { pool, close } = await openStore();
  const body = [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'TotalRequests Limit exceeded.' }];
  const server = await listen(() => ({ status: 403, body }));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
    await close();
  });
  const ids = Array.from({ length: 16 }, (_, i) => `r${i}`);
  await takeIn(
    pool,
    ids.map((id) => reservation(id)),
    ['crm'],
  );
  const destination = http.open(
    http.settings.parse({ preset: 'salesforce', with: variables('salesforce', server.url) }),
    offered,
  );
  const crm = lane(config('crm', { batch: 200, concurrency: 1 }));
  assert.deepEqual(await drainOnce(ports(pool, [crm], { crm: destination })), {
    delivered: 0,
    skipped: 0,
    retry: 16,
    dead: 0,
  });
  assert.equal(server.received.length, 1);
  const { rows } = await pool.query('select max(attempt) as tries from outbox');
  assert.deepEqual(rows, [{ tries: 0 }]);
});

test('refused credentials do not halve a batch', async (t) => {
  const { outcomes } = await answered(t, 'hubspot', { status: 401, body: { message: 'expired' } });
  assert.ok(outcomes.every((outcome) => outcome.kind === 'retry' && outcome.whole !== true));
});

test('salesforce: a duplicate rule and a deleted contact are settled with a note, in the words of the vendor', async (t) => {
  const refusal = (statusCode: string, message: string) => ({ success: false, errors: [{ statusCode, message }] });
  const { outcomes } = await answered(
    t,
    'salesforce',
    {
      status: 200,
      body: [
        { success: true },
        refusal('DUPLICATES_DETECTED', 'Use one of these records? r1@guests.example'),
        refusal('ENTITY_IS_DELETED', 'entity is deleted'),
        refusal('STRING_TOO_LONG', 'First Name: data value too large: (max length=40)'),
        refusal('REQUEST_LIMIT_EXCEEDED', 'limit'),
      ],
    },
    5,
  );
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['delivered', 'skipped', 'skipped', 'dead', 'retry'],
  );
  const message = (i: number) => (outcomes[i] as { message: string }).message;
  assert.match(message(1), /DUPLICATES_DETECTED.*Use one of these records\?/);
  assert.doesNotMatch(message(1), /guests\.example/, 'no guest data in a message');
  assert.match(message(3), /max length=40/);
  assert.deepEqual(outcomes[4]?.kind === 'retry' && outcomes[4].free, true);
});

test('mailchimp: a member who left or was deleted at the vendor is settled with a note', async (t) => {
  const words = 'r0@guests.example is in a compliance state due to unsubscribe and cannot be subscribed.';
  const errors = [
    { email_address: 'r0@guests.example', error: words, error_code: 'ERROR_GENERIC' },
    { email_address: 'r1@guests.example', error: 'It was permanently deleted', error_code: 'ERROR_CONTACT_EXISTS' },
    { email_address: 'r2@guests.example', error: 'Please provide a valid email address.', error_code: 'ERROR_GENERIC' },
  ];
  const { outcomes } = await answered(t, 'mailchimp', { status: 200, body: { errors } }, 4);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['skipped', 'skipped', 'dead', 'delivered'],
  );
  assert.match((outcomes[0] as { message: string }).message, /compliance state/);
});

test('hubspot: a partial answer names its items by objectWriteTraceId, and gives its reason', async (t) => {
  const error = {
    status: 'error',
    category: 'VALIDATION_ERROR',
    message: 'Property values were not valid: 351912345678 is not a phone number',
    context: { objectWriteTraceId: ['r1@guests.example'] },
  };
  const { outcomes, received } = await answered(t, 'hubspot', { status: 207, body: { errors: [error] } }, 3);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['delivered', 'dead', 'delivered'],
  );
  const { inputs } = (received[0] as Received).body as { inputs: { id: string; objectWriteTraceId: string }[] };
  assert.ok(inputs.every(({ id, objectWriteTraceId }) => objectWriteTraceId === id));
  const { message } = outcomes[1] as { message: string };
  assert.match(message, /VALIDATION_ERROR.*Property values were not valid/);
  assert.doesNotMatch(message, /351912345678/);
});

test('the reason of a refused request is part of the message', async (t) => {
  const cases: [string, Reply, RegExp][] = [
    [
      'hubspot',
      { status: 400, body: { category: 'VALIDATION_ERROR', message: 'Invalid input JSON' } },
      /Invalid input JSON/,
    ],
    [
      'klaviyo',
      { status: 400, body: { errors: [{ code: 'invalid', detail: 'Invalid email address' }] } },
      /Invalid email/,
    ],
    [
      'mailchimp',
      { status: 400, body: { title: 'Invalid Resource', detail: 'The resource is invalid.' } },
      /resource is/,
    ],
    [
      'salesforce',
      { status: 400, body: [{ errorCode: 'INVALID_FIELD', message: 'No such column' }] },
      /No such column/,
    ],
  ];
  for (const [preset, reply, words] of cases) {
    const { outcomes } = await answered(t, preset, reply, 1);
    assert.match((outcomes[0] as { message: string }).message, words, preset);
  }
});

test('no value of a refused guest is part of the message, whatever the vendor quotes', async (t) => {
  let names: string[] = [];
  const { outcomes } = await answered(
    t,
    'hubspot',
    ({ body }) => {
      const sent = JSON.stringify(body);
      names = [...sent.matchAll(/"(?:firstname|lastname)":"([^"]+)"/g)].map((found) => found[1] ?? '');
      const category = `The contact ${names[0]} is invalid`;
      return { status: 400, body: { category, message: `${names.join(' ').toUpperCase()} is not a valid name` } };
    },
    1,
  );
  const { message, answer = '' } = outcomes[0] as { message: string; answer?: string };
  assert.ok(names.length >= 2, 'names are sent');
  for (const name of names) {
    assert.ok(!message.toLowerCase().includes(name.toLowerCase()), message);
    assert.ok(answer.includes(name.toUpperCase()), 'operators find it in the answer');
  }
  assert.match(message, /is not a valid name/);
});

test('salesforce: values are cut to the length of their fields', async (t) => {
  const server = await listen(() => ({ status: 200, body: [{ success: true }] }));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = http.settings.parse({ preset: 'salesforce', with: variables('salesforce', server.url) });
  const limits = {
    batch: 1,
    deadlineMs: 30_000,
    leaseLeftMs: () => 60_000,
    extend: async () => true,
    signal: new AbortController().signal,
  };
  const email = `${'a'.repeat(60)}@${'b'.repeat(30)}.example`;
  const guests = [{ first_name: 'Ä'.repeat(60), last_name: '🜨'.repeat(100), email }];
  await http.open(settings, offered).deliver([delivery(reservation('a', { guests }))], limits);
  const [record] = ((server.received[0] as Received).body as { records: Record<string, string>[] }).records;
  assert.deepEqual([record?.FirstName?.length, [...(record?.LastName ?? '')].length], [40, 80]);
  assert.deepEqual([record?.Email, record?.Innbound_Email__c], [undefined, email], 'a part is another address');
});

test('braze: errors of single users are found by their position', async (t) => {
  const errors = [{ type: "'email' is not valid", input_array: 'attributes', index: 2 }];
  // The stays come after the users.
  const reply = ({ text }: Received): Reply =>
    text.includes('innbound_stays')
      ? { status: 201, body: { message: 'success' } }
      : { status: 201, body: { message: 'success', attributes_processed: 3, errors } };
  const { outcomes } = await answered(t, 'braze', reply, 4);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['delivered', 'delivered', 'dead', 'delivered'],
  );
  assert.match(JSON.stringify(outcomes[2]), /is not valid/);
});

test('salesforce: a withdrawal of a contact that is gone settles with a note', async (t) => {
  const missing = {
    success: false,
    errors: [{ statusCode: 'REQUIRED_FIELD_MISSING', message: 'LastName', fields: [] }],
  };
  const server = await listen(() => ({ status: 200, body: [missing] }));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = http.settings.parse({ preset: 'salesforce', with: variables('salesforce', server.url) });
  const guests = [{ email: 'ana@guests.example', marketing_consent: false }];
  const one = { ...delivery(reservation('r', { guests })), byConsent: true };
  const signal = new AbortController().signal;
  const limits = { batch: 200, deadlineMs: 30_000, leaseLeftMs: () => 60_000, extend: async () => true, signal };
  const [outcome] = await http.open(settings, offered).deliver([one], limits);
  assert.equal(outcome?.kind, 'skipped');
});
