import assert from 'node:assert/strict';
import { createHmac, Hmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { connectorSchema } from '../../../src/core/documents/connector.ts';
import { integrationSchema } from '../../../src/core/documents/integration.ts';
import type { PushSettings } from '../../../src/core/intake/push/settings.ts';
import { eventIdPlaces, pushSettings } from '../../../src/core/intake/push/settings.ts';
import type { Pool } from '../../../src/core/store/db/pool.ts';
import { eventBody, exchange, migratedPool, nowS, rawRequest, type Service, settings, startIntake } from './support.ts';

/** Senders with other verification than the default, over a real socket. */

let pool: Pool;
let end: () => Promise<void>;
let secret = '';
before(async () => {
  ({ pool, end } = await migratedPool());
});
after(() => end());

let count = 0;
async function withSender(push: Partial<PushSettings>, work: (service: Service) => Promise<void>): Promise<void> {
  const service = await startIntake({ pool, settings: () => ({ ...settings, ...push }) });
  // The store is shared: the endpoint is issued, with its secret, by the first.
  if (service.secret !== '') secret = service.secret;
  try {
    await work({ ...service, secret });
  } finally {
    await service.stop();
  }
}
const fresh = () => eventBody({ event_id: `sender-${++count}` });
const plain = { 'x-webhook-signature': undefined, 'x-webhook-timestamp': undefined };

async function send(
  service: Service,
  body: string,
  headers: Record<string, string | undefined>,
  query = '',
): Promise<number | undefined> {
  const [answer] = await exchange(
    service.port,
    rawRequest(service, body, { ...plain, ...headers }, `/webhooks/${service.endpointId}${query}`),
  );
  return answer?.status;
}

test('a signature over the method and the address as issued, and HTTP Basic', async () => {
  const scheme = {
    type: 'hmac',
    algorithm: 'sha1',
    sign: '{method} {url}\n{body}',
    header: 'X-Sig',
    prefix: '',
  } as const;
  await withSender({ verification: { ...scheme, encoding: 'hex', toleranceS: 300 } }, async (service) => {
    const body = fresh();
    const at = (origin: string) => `${origin}/webhooks/${service.endpointId}?from=pms`;
    const signed = (url: string) => createHmac('sha1', service.secret).update(`POST ${url}\n${body}`).digest('hex');
    const sent = (url: string) => send(service, body, { 'x-sig': signed(url) }, '?from=pms');
    assert.equal(await sent(at('https://elsewhere.example')), 401);
    assert.equal(await sent(at('https://hotel.example/in')), 202);
  });
  await withSender({ verification: { type: 'basic', username: 'pms' } }, async (service) => {
    const as = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
    assert.equal(await send(service, fresh(), as('pms:wrong')), 401);
    assert.equal(await send(service, fresh(), as(`pms:${service.secret}`)), 202);
  });
});

test('HMAC-SHA256 over the body in base64, in another header', () =>
  withSender(
    {
      verification: {
        type: 'hmac',
        algorithm: 'sha256',
        sign: 'body',
        header: 'X-Pms-Signature',
        prefix: '',
        encoding: 'base64',
        toleranceS: 300,
      },
    },
    async (service) => {
      const body = fresh();
      const signature = createHmac('sha256', secret).update(body).digest('base64');
      assert.equal(await send(service, body, { 'X-PMS-Signature': signature }), 202);
      assert.equal(await send(service, fresh(), { 'X-PMS-Signature': signature }), 401);
      assert.equal(await send(service, body, {}), 401);
    },
  ));

test('HMAC-SHA512 over timestamp.body with other header names', () =>
  withSender(
    {
      verification: {
        type: 'hmac',
        algorithm: 'sha512',
        sign: 'timestamp.body',
        header: 'X-Sig',
        prefix: 'v1=',
        encoding: 'hex',
        timestampHeader: 'X-Time',
        toleranceS: 60,
      },
    },
    async (service) => {
      const body = fresh();
      const at = (time: string) => ({
        'x-time': time,
        'x-sig': `v1=${createHmac('sha512', secret).update(`${time}.${body}`).digest('hex')}`,
      });
      assert.equal(await send(service, body, at(nowS())), 202);
      assert.equal(await send(service, body, at(String(Number(nowS()) - 62))), 401);
    },
  ));

test('where the event is the reservation itself, the reservation’s id is not the id of the event', () => {
  const placesOf = (more: object, data: unknown = '$item') => {
    const envelope = { event: 'type', names: { 'reservation.updated': 'updated' }, brand: false, data };
    const pull = { single: { path: '/stays/{id}' } };
    const document = { connector: 'acme-pms', map: { id: 'id' }, pull, push: { envelope, ...more } };
    return eventIdPlaces(connectorSchema.parse(document));
  };
  assert.deepEqual(placesOf({}), ['event_id']);
  assert.deepEqual(placesOf({ event_id: 'id' }), []);
  assert.deepEqual(placesOf({ event_id: ['no', 'header.X-Id'], map: { id: 'no' } }), ['header.X-Id']);
  assert.deepEqual(placesOf({ thin: { id: 'booking' }, event_id: ['booking', 'id'] }), ['id']);
  assert.deepEqual(placesOf({}, 'booking'), ['event_id', 'id']);
  assert.equal(placesOf({ event_id: false }), undefined);
});

test('the time and several signatures as parts of one header, as the connector describes it', () => {
  const parsed = connectorSchema.parse({
    connector: 'acme-pms',
    push: {
      verification: {
        type: 'hmac',
        algorithm: 'sha256',
        header: 'Acme-Signature',
        parts: { timestamp: 't', signature: 'v1' },
      },
    },
  });
  const { verification } = pushSettings(
    integrationSchema.parse({
      integration: 'lisbon-grand',
      connector: 'acme-pms',
      brand_id: 'LIS01',
      timezone: 'Europe/Lisbon',
      push: { enabled: true },
    }),
    parsed,
  );
  return withSender({ verification }, async (service) => {
    const body = fresh();
    const signed = (time: string, key = secret) =>
      `v1=${createHmac('sha256', key).update(`${time}.${body}`).digest('hex')}`;
    const at = (time: string) => ({
      'acme-signature': `t=${time},${signed(time, 'their next secret')},${signed(time)}`,
    });
    assert.equal(await send(service, body, at(nowS())), 202);
    assert.equal(await send(service, body, at(String(Number(nowS()) - 310))), 401);
    assert.equal(await send(service, body, { 'acme-signature': `t=${nowS()},${signed(nowS(), 'guess')}` }), 401);
    assert.equal(await send(service, body, {}), 401);
  });
});

test('a token in a header', () =>
  withSender({ verification: { type: 'token', header: 'Authorization', prefix: 'Bearer ' } }, async (service) => {
    assert.equal(await send(service, fresh(), { authorization: `Bearer ${secret}` }), 202);
    assert.equal(await send(service, fresh(), { authorization: 'Bearer guess' }), 401);
    assert.equal(await send(service, fresh(), {}), 401);
  }));

test('a token in the URL', () =>
  withSender({ verification: { type: 'token', query: 'token', prefix: '' } }, async (service) => {
    assert.equal(await send(service, fresh(), {}, `?token=${secret}`), 202);
    assert.equal(await send(service, fresh(), {}, '?token=guess'), 401);
    assert.equal(await send(service, fresh(), {}), 401);
  }));

test('Standard Webhooks, with its id as the event’s', () =>
  withSender(
    {
      verification: { type: 'standard_webhooks', headers: 'webhook', toleranceS: 300 },
      eventIdPlaces: ['header.webhook-id'],
    },
    async (service) => {
      const body = fresh();
      const signed = (id: string) => ({
        'webhook-id': id,
        'webhook-timestamp': nowS(),
        'webhook-signature': new Webhook(secret).sign(id, new Date(Number(nowS()) * 1000), body),
      });
      assert.equal(await send(service, body, signed('msg_1')), 202);
      assert.equal(await send(service, body, signed('msg_1')), 200);
      assert.equal(await send(service, body, signed('msg_2')), 202);
      assert.equal(await send(service, body, { ...signed('msg_3'), 'webhook-id': 'msg_4' }), 401);
    },
  ));

test('an id deep in the body, or in a header', () =>
  withSender({ eventIdPlaces: ['meta.delivery.id', 'header.X-Event-Id'] }, async (service) => {
    const body = eventBody({ event_id: undefined, meta: { delivery: { id: 'deep-1' } } });
    const [deep] = await exchange(service.port, rawRequest(service, body));
    assert.equal(deep?.json.event_id, 'deep-1');
    const [inHeader] = await exchange(
      service.port,
      rawRequest(service, eventBody({ event_id: undefined }), { 'x-event-id': 'head-1' }),
    );
    assert.equal(inHeader?.json.event_id, 'head-1');
  }));

test('an unknown endpoint takes the same work as a known one: the body is hashed once', (t) =>
  withSender({}, async (service) => {
    const large = Buffer.alloc(1024 * 1024, 0x20);
    const { mock } = t.mock.method(Hmac.prototype, 'update');
    const answered = async (endpointId: string) => {
      const request = rawRequest({ ...service, endpointId }, large, { 'x-webhook-timestamp': undefined });
      mock.resetCalls();
      const [answer] = await exchange(service.port, request);
      const hashed = mock.calls.filter(({ arguments: [bytes] }) => Buffer.byteLength(bytes) === large.length);
      return { status: answer?.status, hashed: hashed.length };
    };
    assert.deepEqual(await answered(service.endpointId), { status: 401, hashed: 1 });
    assert.deepEqual(await answered('whk_00000000000000000000'), { status: 404, hashed: 1 });
  }));
