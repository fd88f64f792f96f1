import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { encodeRecord, type Guest } from '../../../../src/core/canonical/reservation.ts';
import { ConsentHistory } from '../../../../src/core/deliver/consent.ts';
import type { DeliverLimits } from '../../../../src/core/deliver/destination.ts';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import { presets } from '../../../../src/core/deliver/destinations/http/preset.ts';
import type { Delivery } from '../../../../src/core/deliver/message.ts';
import type { Json } from '../../../../src/terms.ts';
import { listen, type Received, type Reply } from '../../http-server.ts';
import { delivery, reservation, services } from '../../support.ts';

/**
 * Each preset against a server that accepts only requests that match the public description of its API:
 * a refused request fails the test.
 */
type Body = { [key: string]: Json };

const refuse = (why: string): Reply => ({ status: 400, body: { message: why } });
const address = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

async function setUp(
  t: TestContext,
  preset: string,
  variables: (url: string) => Record<string, string>,
  answer: (request: Received) => Reply,
) {
  const refusals: string[] = [];
  const server = await listen((request) => {
    const reply = answer(request);
    if (reply.status === 400) refusals.push(JSON.stringify(reply.body));
    return reply;
  });
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    await server.close();
  });
  const settings = http.settings.parse({ preset, with: variables(server.url) });
  const { most } = http.batch(settings);
  const limits: DeliverLimits = {
    batch: most,
    deadlineMs: 30_000,
    leaseLeftMs: () => 60_000,
    extend: async () => true,
    signal: new AbortController().signal,
  };
  const destination = http.open(settings, offered);
  return { ...server, refusals, most, deliver: (batch: readonly Delivery[]) => destination.deliver(batch, limits) };
}

const withGuests = (id: string, guests: Guest[]): Delivery => delivery(reservation(id, { guests }));
const guest = (name: string, change: Partial<Guest> = {}): Guest => ({
  first_name: name,
  last_name: 'Exemplo',
  email: `${name.toLowerCase()}@guests.example`,
  phone: '+351912345678',
  marketing_consent: true,
  ...change,
});
const withdrawn = (id: string, name: string): Delivery => ({
  ...withGuests(id, [{ email: `${name}@guests.example`, marketing_consent: false }]),
  byConsent: true,
});
const erased = (id: string, name: string): Delivery => {
  const one = withGuests(id, [{}]);
  return { ...one, message: { ...one.message, event: 'erased' }, erased: [{ email: `${name}@guests.example` }] };
};
const kinds = (outcomes: readonly { kind: string }[]) => outcomes.map(({ kind }) => kind);

test('every preset names the public API description that it follows', () => {
  assert.deepEqual(
    [...presets.keys()],
    ['braze', 'brevo', 'dynamics', 'hubspot', 'klaviyo', 'mailchimp', 'salesforce'],
  );
  for (const preset of presets.values()) assert.ok(preset.reference.every((url) => url.startsWith('https://')));
});

/** https://developers.hubspot.com: contacts, batch upsert; gdpr-delete; unsubscribe-all. */
function hubspot({ method, path, body, headers }: Received): Reply {
  if (method !== 'POST') return refuse(method);
  if (path === '/crm/v3/objects/contacts/gdpr-delete') {
    const { idProperty, objectId, ...rest } = body as Body;
    if (idProperty !== 'email' || !address.test(String(objectId)) || Object.keys(rest).length > 0)
      return refuse('gdpr');
    return { status: 204 };
  }
  if (/^\/communication-preferences\/v4\/statuses\/[^/]+%40[^/]+\/unsubscribe-all\?channel=EMAIL$/.test(path)) {
    return { status: 200, body: { status: 'COMPLETE', results: [] } };
  }
  if (path === '/communication-preferences/v4/statuses/batch/write') {
    for (const { channel, subscriberIdString: who, subscriptionId } of (body as { inputs: Body[] }).inputs)
      if (channel !== 'EMAIL' || !address.test(String(who)) || subscriptionId !== 123) return refuse('subscription');
    return { status: 200, body: { status: 'COMPLETE', results: [] } };
  }
  if (path !== '/crm/v3/objects/contacts/batch/upsert') return { status: 404 };
  if (headers['content-type'] !== 'application/json') return refuse('content type');
  const { inputs, ...more } = body as { inputs: Body[] };
  if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > 100 || Object.keys(more).length > 0)
    return refuse('inputs');
  if (new Set(inputs.map(({ id }) => String(id).toLowerCase())).size !== inputs.length) return refuse('duplicate ids');
  for (const { id, idProperty, objectWriteTraceId, properties, ...rest } of inputs) {
    if (objectWriteTraceId !== id) return refuse('trace');
    if (idProperty !== 'email' || typeof id !== 'string' || Object.keys(rest).length > 0) return refuse('input');
    const known = new Set(['email', 'firstname', 'lastname', 'phone']);
    const own = Object.entries(properties as Body);
    if (own.some(([name, value]) => !known.has(name) || typeof value !== 'string')) return refuse('properties');
    if ((properties as Body).email !== id) return refuse('email');
  }
  const bad = inputs.filter(({ id }) => String(id).startsWith('invalid'));
  if (bad.length === 0) return { status: 200, body: { status: 'COMPLETE', results: inputs.map(() => ({})) } };
  const errors = bad.map(({ id }) => ({
    status: 'error',
    category: 'VALIDATION_ERROR',
    message: 'Email address is invalid',
    context: { ids: [id] },
  }));
  return { status: 207, body: { status: 'COMPLETE', results: [], numErrors: bad.length, errors } };
}

test('hubspot: contacts in batches of a hundred, each address once, failures item by item', async (t) => {
  const { deliver, received, refusals, most } = await setUp(t, 'hubspot', (url) => ({ base_url: url }), hubspot);
  assert.equal(most, 100);
  const many = Array.from({ length: 130 }, (_, i) => withGuests(`r${i}`, [guest(`Ana${i % 120}`)]));
  assert.deepEqual(new Set(kinds(await deliver(many))), new Set(['delivered']));
  assert.deepEqual(
    received.map(({ body }) => (body as { inputs: Json[] }).inputs.length),
    [100, 20],
  );
  const mixed = await deliver([
    withGuests('a', [guest('Ana'), guest('Rui')]),
    withGuests('b', [guest('invalid')]),
    withGuests('c', [{ first_name: 'Nobody' }]),
    withGuests('d', [guest('alias', { email_proxy: true })]),
  ]);
  assert.deepEqual(kinds(mixed), ['delivered', 'dead', 'skipped', 'skipped']);
  assert.deepEqual(kinds(await deliver([withdrawn('d', 'ana'), erased('e', 'ana')])), ['delivered', 'delivered']);
  assert.deepEqual(refusals, []);
});

/** https://developer.salesforce.com: sObject Collections, upsert by external id. */
function salesforce({ method, path, body }: Received): Reply {
  if (method === 'DELETE') {
    return {
      status: /^\/services\/data\/v61\.0\/sobjects\/Contact\/Innbound_Email__c\/[^/]+%40[^/]+$/.test(path) ? 204 : 400,
    };
  }
  if (
    method === 'GET' &&
    path.startsWith('/services/data/v61.0/query?q=SELECT+Id,Innbound_Email__c+FROM+Contact+WHERE')
  )
    return { status: 200, body: { totalSize: 0, done: true, records: [] } };
  if (method !== 'PATCH' || path !== '/services/data/v61.0/composite/sobjects/Contact/Innbound_Email__c')
    return refuse(path);
  const { allOrNone, records, ...more } = body as { allOrNone: boolean; records: Body[] };
  if (allOrNone !== false || records.length > 200 || Object.keys(more).length > 0) return refuse('envelope');
  for (const record of records) {
    if (JSON.stringify(record.attributes) !== '{"type":"Contact"}') return refuse('attributes');
    if ('Id' in record || 'id' in record) return refuse('record ids are not allowed');
    if (typeof record.Innbound_Email__c !== 'string') return refuse('external id');
  }
  const results = records.map((record) => {
    if (record.HasOptedOutOfEmail === true) return { id: '003', success: true, errors: [], created: false };
    if (typeof record.LastName !== 'string') {
      return {
        success: false,
        errors: [{ statusCode: 'REQUIRED_FIELD_MISSING', message: 'LastName', fields: ['LastName'] }],
      };
    }
    if (record.FirstName === 'Locked') {
      return { success: false, errors: [{ statusCode: 'UNABLE_TO_LOCK_ROW', message: 'locked', fields: [] }] };
    }
    if (record.FirstName === 'Invalid') {
      return { success: false, errors: [{ statusCode: 'INVALID_EMAIL_ADDRESS', message: 'Email', fields: ['Email'] }] };
    }
    return { id: '003', success: true, errors: [], created: true };
  });
  return { status: 200, body: results };
}

test('salesforce: contacts by external id, results by position, a locked row is retried', async (t) => {
  const { deliver, refusals } = await setUp(t, 'salesforce', (url) => ({ instance_url: url }), salesforce);
  const outcomes = await deliver([
    withGuests('a', [guest('Ana')]),
    withGuests('b', [guest('Locked')]),
    withGuests('c', [guest('Invalid')]),
    withGuests('d', [{ email: 'nameless@guests.example' }]),
    withdrawn('e', 'ana'),
    erased('f', 'ana'),
  ]);
  assert.deepEqual(kinds(outcomes), ['delivered', 'retry', 'dead', 'delivered', 'delivered', 'delivered']);
  assert.deepEqual(refusals, []);
});

/** https://developers.klaviyo.com: create or update profile; bulk unsubscribe; request deletion. */
function klaviyo({ method, path, body, headers }: Received): Reply {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(String(headers.revision))) return refuse('revision');
  if (headers['content-type'] !== 'application/vnd.api+json') return refuse('content type');
  const { type, attributes } = (body as { data: { type: string; attributes: Body } }).data;
  if (method === 'PATCH' && path === '/api/profiles/01') {
    const phone = /^\{"phone_number":"\+\d{7,15}"\}$/.test(JSON.stringify(attributes));
    return phone ? { status: 200, body: { data: { type, id: '01' } } } : refuse('phone');
  }
  if (method !== 'POST') return refuse(method);
  if (path === '/api/profile-import') {
    if (type !== 'profile' || !address.test(String(attributes.email))) return refuse('profile');
    const known = new Set(['email', 'phone_number', 'external_id', 'first_name', 'last_name', 'properties']);
    if (Object.keys(attributes).some((name) => !known.has(name))) return refuse('attributes');
    if (attributes.phone_number !== undefined) return refuse('a number would identify the profile');
    return { status: attributes.first_name === 'New' ? 201 : 200, body: { data: { type: 'profile', id: '01' } } };
  }
  if (path === '/api/profile-subscription-bulk-create-jobs') {
    const [profile] = (attributes.profiles as unknown as { data: { type: string; attributes: Body }[] }).data;
    const consent = JSON.stringify(profile?.attributes.subscriptions);
    if (type !== 'profile-subscription-bulk-create-job' || profile?.type !== 'profile') return refuse('job');
    if (consent !== '{"email":{"marketing":{"consent":"SUBSCRIBED"}}}') return refuse('subscriptions');
    return { status: 202 };
  }
  if (path === '/api/profile-subscription-bulk-delete-jobs') {
    const [profile] = (attributes.profiles as unknown as { data: { type: string; attributes: Body }[] }).data;
    const consent = JSON.stringify(profile?.attributes.subscriptions);
    if (type !== 'profile-subscription-bulk-delete-job' || profile?.type !== 'profile') return refuse('job');
    if (consent !== '{"email":{"marketing":{"consent":"UNSUBSCRIBED"}}}') return refuse('subscriptions');
    return { status: 202 };
  }
  if (path !== '/api/data-privacy-deletion-jobs' || type !== 'data-privacy-deletion-job') return refuse(path);
  const { data } = attributes.profile as unknown as { data: { type: string; attributes: Body } };
  return data.type === 'profile' && address.test(String(data.attributes.email)) ? { status: 202 } : refuse('deletion');
}

test('klaviyo: profiles one by one, unsubscribed and deleted', async (t) => {
  const { deliver, received, refusals, most } = await setUp(t, 'klaviyo', (url) => ({ base_url: url }), klaviyo);
  assert.equal(most, 50);
  assert.deepEqual(kinds(await deliver([withGuests('a', [guest('Ana'), guest('New')])])), ['delivered']);
  const keys = received.map(({ headers }) => headers['idempotency-key']);
  assert.equal(new Set(keys).size, 2);
  assert.deepEqual(kinds(await deliver([withdrawn('b', 'ana')])), ['delivered']);
  assert.deepEqual(kinds(await deliver([erased('c', 'ana')])), ['delivered']);
  assert.deepEqual(refusals, []);
});

/** https://mailchimp.com/developer: batch subscribe or unsubscribe; delete permanently. */
function mailchimp({ method, path, body }: Received): Reply {
  if (method !== 'POST') return refuse(method);
  const hash = createHash('md5').update('ana@guests.example').digest('hex');
  if (path === `/3.0/lists/L1/members/${hash}/actions/delete-permanent`) return { status: 204 };
  if (path !== '/3.0/lists/L1?skip_merge_validation=true') return { status: 404 };
  const { members, update_existing, ...more } = body as { members: Body[]; update_existing: boolean };
  if (!Array.isArray(members) || members.length > 500 || update_existing !== true || Object.keys(more).length > 0)
    return refuse('envelope');
  const seen = new Set<string>();
  const errors: Json[] = [];
  for (const { email_address, status, status_if_new, merge_fields } of members) {
    if (status === undefined && status_if_new === undefined) return refuse('status');
    const allowed = [undefined, 'subscribed', 'unsubscribed', 'transactional'];
    if (!allowed.includes(status as string) || !allowed.includes(status_if_new as string)) return refuse('status');
    if (Object.values((merge_fields ?? {}) as Body).some((value) => typeof value !== 'string'))
      return refuse('merge fields');
    const email = String(email_address);
    if (seen.has(email)) errors.push({ email_address: email, error: 'Duplicate', error_code: 'ERROR_GENERIC' });
    if (email.startsWith('forgotten'))
      errors.push({ email_address: email, error: 'Forgotten', error_code: 'ERROR_CONTACT_EXISTS' });
    seen.add(email);
  }
  return { status: 200, body: { new_members: [], updated_members: [], errors, error_count: errors.length } };
}

test('mailchimp: members in one call, a refused one settles alone', async (t) => {
  const variables = (url: string) => ({ base_url: `${url}/3.0`, list_id: 'L1' });
  const { deliver, received, refusals } = await setUp(t, 'mailchimp', variables, mailchimp);
  const outcomes = await deliver([
    withGuests('a', [guest('Ana')]),
    withGuests('b', [guest('Ana', { phone: '+351910000000' })]),
    withGuests('c', [guest('forgotten')]),
    withdrawn('d', 'rui'),
    erased('e', 'ana'),
  ]);
  assert.deepEqual(kinds(outcomes), ['delivered', 'delivered', 'skipped', 'delivered', 'delivered']);
  assert.deepEqual(
    received.map(({ body }) => (body as { members?: Body[] } | null)?.members?.map(statuses)),
    [
      [
        [undefined, 'subscribed'],
        [undefined, 'subscribed'],
      ],
      [['unsubscribed', undefined]],
      undefined,
    ],
  );
  assert.deepEqual(refusals, []);
});

const statuses = ({ status, status_if_new }: Body) => [status, status_if_new];

/** As the engine would send it after these earlier versions, newest first, under a document without a consent rule. */
const afterwards = (id: string, now: Guest, ...earlier: Guest[]): Delivery => {
  const history = new ConsentHistory(
    'reservation',
    earlier.map((one) => encodeRecord(reservation(id, { guests: [one] }))),
  );
  return { ...withGuests(id, [now]), consentChange: (one) => history.change(one) };
};
const yes = guest('Ana');
const no = guest('Ana', { marketing_consent: false });
const { marketing_consent: _, ...unknown } = yes;

test('mailchimp: unknown consent never subscribes; only a stated change touches the status of a member', async (t) => {
  const variables = (url: string) => ({ base_url: `${url}/3.0`, list_id: 'L1' });
  const { deliver, received, refusals } = await setUp(t, 'mailchimp', variables, mailchimp);
  const sent = async (one: Delivery) => {
    const before = received.length;
    assert.deepEqual(kinds(await deliver([one])), ['delivered']);
    return received.slice(before).flatMap(({ body }) => (body as { members: Body[] }).members.map(statuses));
  };
  assert.deepEqual(await sent(afterwards('a', unknown)), [[undefined, 'transactional']]);
  assert.deepEqual(await sent(afterwards('a', no)), [[undefined, 'transactional']]);
  assert.deepEqual(await sent(afterwards('a', yes)), [[undefined, 'subscribed']]);
  assert.deepEqual(await sent(afterwards('a', yes, yes)), [[undefined, 'subscribed']]);
  assert.deepEqual(await sent(afterwards('a', unknown, yes)), [[undefined, 'transactional']]);
  assert.deepEqual(await sent(afterwards('a', yes, no, yes)), [['subscribed', 'subscribed']]);
  assert.deepEqual(await sent(afterwards('a', no, unknown, yes)), [
    [undefined, 'transactional'],
    ['unsubscribed', undefined],
  ]);
  assert.deepEqual(refusals, []);
});

test('klaviyo, hubspot and salesforce: unknown consent neither subscribes nor unsubscribes', async (t) => {
  const each = {
    hubspot: { server: hubspot, out: /unsubscribe-all/, back: undefined },
    klaviyo: { server: klaviyo, out: /UNSUBSCRIBED/, back: /"SUBSCRIBED"/ },
    salesforce: { server: salesforce, out: /"HasOptedOutOfEmail":true/, back: /"HasOptedOutOfEmail":false/ },
  };
  for (const [name, { server, out, back }] of Object.entries(each)) {
    const variables = (url: string): Record<string, string> =>
      name === 'salesforce' ? { instance_url: url } : { base_url: url };
    const { deliver, received, refusals } = await setUp(t, name, variables, server);
    const sent = async (one: Delivery) => {
      const before = received.length;
      assert.deepEqual(kinds(await deliver([one])), ['delivered'], name);
      return received
        .slice(before)
        .map(({ path, text }) => `${path} ${text}`)
        .join('\n');
    };
    const neither = /unsubscribe|SUBSCRIBED|HasOptedOut/i;
    assert.doesNotMatch(await sent(afterwards('a', unknown)), neither, name);
    assert.doesNotMatch(await sent(afterwards('a', unknown, yes)), neither, name);
    assert.doesNotMatch(await sent(afterwards('a', no)), neither, name);
    assert.doesNotMatch(await sent(afterwards('a', yes, yes)), neither, name);
    assert.match(await sent(afterwards('a', no, unknown, yes)), out, name);
    if (back) assert.match(await sent(afterwards('a', yes, no, yes)), back, name);
    assert.deepEqual(refusals, [], name);
  }
});

test('hubspot: consent is sent once it is stated, where a subscription type is set', async (t) => {
  for (const more of [{}, { subscription_id: '123' }]) {
    const variables = (url: string) => ({ base_url: url, ...more });
    const { deliver, received, refusals } = await setUp(t, 'hubspot', variables, hubspot);
    const subscribed = async (one: Delivery) => {
      const before = received.length;
      assert.deepEqual(kinds(await deliver([one])), ['delivered']);
      return received.slice(before).filter(({ text }) => text.includes('SUBSCRIBED')).length;
    };
    const once = 'subscription_id' in more ? 1 : 0;
    assert.equal(await subscribed(afterwards('a', yes)), once);
    assert.equal(await subscribed(afterwards('a', yes, yes)), 0);
    assert.equal(await subscribed(afterwards('a', yes, no)), once);
    assert.equal(await subscribed(afterwards('a', unknown)), 0);
    assert.deepEqual(refusals, []);
  }
});

test('klaviyo: guest ids are scoped by integration', async (t) => {
  const { deliver, received } = await setUp(t, 'klaviyo', (url) => ({ base_url: url }), klaviyo);
  await deliver([withGuests('a', [guest('Ana', { guest_id: '7' }), guest('Rui')])]);
  const ids = received.map(({ body }) => (body as { data: { attributes: Body } }).data.attributes.external_id);
  assert.deepEqual(ids, ['lisbon:7', undefined]);
});

test('every preset takes guest records as well as bookings', async (t) => {
  const servers = { hubspot, salesforce, klaviyo, mailchimp };
  for (const [name, server] of Object.entries(servers)) {
    const variables = (url: string): Record<string, string> => {
      if (name === 'salesforce') return { instance_url: url };
      return name === 'mailchimp' ? { base_url: `${url}/3.0`, list_id: 'L1' } : { base_url: url };
    };
    const { deliver, received, refusals } = await setUp(t, name, variables, server);
    const one = delivery(reservation('gst_1'));
    const profile = {
      ...one,
      message: { ...one.message, type: 'guest' as const, data: { id: 'gst_1', ...guest('Ana') } },
    };
    assert.deepEqual(kinds(await deliver([profile])), ['delivered'], name);
    assert.deepEqual(refusals, []);
    assert.match(received[0]?.text ?? '', /ana@guests\.example/);
    assert.doesNotMatch(received[0]?.text ?? '', /gst_1/, 'a profile is not a booking');
  }
});

test('a guest who withdrew in one booking is not resubscribed by another of the same batch', async (t) => {
  const variables = (url: string) => ({ base_url: `${url}/3.0`, list_id: 'L1' });
  const { deliver, received } = await setUp(t, 'mailchimp', variables, mailchimp);
  const agrees = { ...withGuests('a', [guest('Ana')]), byConsent: true };
  assert.deepEqual(kinds(await deliver([withdrawn('b', 'ana'), agrees])), ['delivered', 'delivered']);
  assert.deepEqual(
    received.map(({ body }) => (body as { members?: Body[] }).members?.map(statuses)),
    [[[undefined, 'subscribed']], [['unsubscribed', undefined]]],
  );
});
