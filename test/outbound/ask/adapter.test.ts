import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { fetchSingle } from '../../../src/core/intake/pull/request/single.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { type Asked, bookings } from '../../intake/pull/support/partner.ts';
import { sync } from '../../intake/pull/support/runtime.ts';
import { setUpPulls } from '../../intake/pull/support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();

const day = { from: '2026-03-01', to: '2026-03-01' };
const guide = new URL('../../../docs/guides/adapters/', import.meta.url);
const xml = `<?xml version="1.0" encoding="UTF-8"?>
<!-- list -->
<Response xmlns="urn:pms"><Reservations>
  <Reservation id="X1"><CheckIn>2026-03-01</CheckIn><CheckOut>2026-03-03</CheckOut><Status>confirmed</Status>
    <Total currency="EUR">310.50</Total>
    <Guests><Guest><First>An&#225; &amp; Co</First><Last><![CDATA[O'<Neill>]]></Last></Guest><Guest><First>Rui</First><Last>Example</Last></Guest></Guests>
  </Reservation>
  <Reservation id="X2"><CheckIn>2026-03-02</CheckIn><CheckOut>2026-03-03</CheckOut><Status>cancelled</Status><Total currency="EUR">0</Total><Guests/></Reservation>
</Reservations></Response>`;
const map = {
  id: "'@id'",
  check_in: 'CheckIn',
  check_out: 'CheckOut',
  status: 'Status',
  total_amount: "Total.'#text'",
  currency: "Total.'@currency'",
  guests: { from: 'Guests.Guest', fields: { first_name: 'First', last_name: 'Last' } },
  rooms: false,
  charges: false,
};

test('adapter: xml turns XML into JSON', async () => {
  const partner = await partnerOf(() => ({ raw: xml, headers: { 'content-type': 'application/xml' } }));
  const connector = {
    shape: { root_path: 'Response.Reservations.Reservation' },
    map,
    pull: { adapter: 'xml', pagination: { type: 'none' } },
  };
  const ports = runtime.ports({ integration: 'xml', baseUrl: partner.url, connector }, {});
  const result = await sync(ports, 'xml', day);
  assert.equal(result.state, 'complete', JSON.stringify(result));
  const [first, second] = await runtime.stored('xml');
  assert.deepEqual([first?.id, first?.data.total_amount, first?.data.currency], ['X1', 310.5, 'EUR']);
  assert.deepEqual(
    ((first?.data.guests ?? []) as { last_name: string }[]).map((guest) => guest.last_name),
    ["O'<Neill>", 'Example'],
  );
  assert.deepEqual([second?.id, second?.data.status, second?.data.guests], ['X2', 'cancelled', []]);
});

/** Answers an OTA_ReadRQ with the reservations of the property that arrive in the range. */
function otaAnswer({ body, headers }: Asked) {
  const attribute = (name: string) => new RegExp(`<OTA_ReadRQ\\b[\\s\\S]*\\b${name}="([^"]*)"`).exec(body)?.[1] ?? '';
  assert.match(headers['content-type'] ?? '', /^text\/xml/);
  assert.equal(attribute('HotelCode'), 'LIS01');
  const arriving = ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-09'].filter(
    (day) => day >= attribute('Start') && day <= attribute('End'),
  );
  const reservations = arriving.map(
    (day) =>
      `<o:HotelReservation ResStatus="confirmed"><o:UniqueID Type="14" ID="R-${day}"/><o:TimeSpan Start="${day}" End="2026-03-20"/><o:ResGuests><o:ResGuest><o:PersonName><o:GivenName>Ana</o:GivenName><o:Surname>O&apos;Neill</o:Surname></o:PersonName></o:ResGuest></o:ResGuests></o:HotelReservation>`,
  );
  return {
    raw: `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><o:OTA_ResRetrieveRS xmlns:o="http://www.opentravel.org/OTA/2003/05"><o:Success/><o:ReservationsList>${reservations.join('')}</o:ReservationsList></o:OTA_ResRetrieveRS></s:Body></s:Envelope>`,
    headers: { 'content-type': 'text/xml; charset=utf-8' },
  };
}

test('the OTA example of the guide asks over SOAP, with credentials in the body', async () => {
  const partner = await partnerOf(otaAnswer);
  const { connector: _, ...connector } = parse(await readFile(new URL('ota.yaml', guide), 'utf8'));
  const pull = { body: { 'soap:Envelope': { 'soap:Header': { Password: 'p<&">' } } } };
  const ports = runtime.ports({ integration: 'ota', brandId: 'LIS01', baseUrl: partner.url, connector, pull });
  const result = await sync(ports, 'ota', { from: '2026-03-01', to: '2026-03-07' });
  assert.equal(result.state, 'complete', JSON.stringify(result));
  const stored = await runtime.stored('ota');
  assert.deepEqual(stored.map(({ id }) => id).sort(), ['R-2026-03-01', 'R-2026-03-02']);
  assert.match(JSON.stringify(stored[0]?.data.guests), /O'Neill/);
  const { body = '' } = partner.requests[0] ?? {};
  assert.match(body, /<soap:Header><Password>p&lt;&amp;&quot;&gt;<\/Password><\/soap:Header><soap:Body>/);
});

test('an adapter that throws, is missing or exports nothing is a named error', async () => {
  const partner = await partnerOf(() => ({ raw: 'not xml at all' }));
  for (const [adapter, says] of [
    ['/nowhere/adapter.ts', /Cannot find module/],
    [fileURLToPath(new URL('../../intake/pull/support/list.ts', import.meta.url)), /not a function/],
  ] as const) {
    const integration = `adapter-${says.source.length}-${adapter.length}`;
    const ports = runtime.ports({
      integration,
      baseUrl: partner.url,
      connector: { pull: { pagination: { type: 'none' } } },
    });
    const planned = await ports.plan(integration as IntegrationName);
    assert.ok(planned.kind === 'ok');
    const plan = { ...planned.plan, settings: { ...planned.plan.settings, adapter } };
    const result = await sync({ ...ports, plan: async () => ({ kind: 'ok', plan }) }, integration, day);
    assert.equal(result.error?.code, 'pull.adapter_failed');
    assert.equal(result.error?.message, 'the adapter failed');
    assert.match((await runtime.partnerText(result.runId)) ?? '', says);
  }
});

test('one reservation is fetched by its id; 404 is absent, transient faults are retried later', async () => {
  let status = 200;
  const partner = await partnerOf(() =>
    status === 200 ? { json: { ...bookings(1, '2026-03-01')[0], id: 'A/1 ü' } } : { status, json: { message: 'why' } },
  );
  const connector = { pull: { single: { path: '/api/reservations/{id}' } } };
  const ports = runtime.ports({ integration: 'single', baseUrl: partner.url, connector });
  const ask = () => fetchSingle(ports, 'single' as IntegrationName, 'A/1 ü');
  const found = await ask();
  assert.ok(found.kind === 'found' && (found.body as { id: string }).id === 'A/1 ü');
  assert.equal(partner.requests[0]?.pathQuery, '/api/reservations/A%2F1%20%C3%BC');
  status = 404;
  assert.equal((await ask()).kind, 'absent');
  status = 403;
  assert.deepEqual(await ask(), { kind: 'failed', code: 'pull.forbidden', message: 'the partner answered 403' });
  status = 500;
  const failing = await ask();
  assert.ok(failing.kind === 'later' && failing.code === 'pull.server_error');
  const without = runtime.ports({ integration: 'single', baseUrl: partner.url });
  assert.equal((await fetchSingle(without, 'single' as IntegrationName, 'x')).kind, 'failed');
});

test('an id without the parts that the request needs is never requested', async () => {
  const partner = await partnerOf(() => ({ json: bookings(1, '2026-03-01')[0] }));
  const single = { path: '/properties/{id.0}/reservations/{id.1}', split: '/' };
  const ports = runtime.ports({ integration: 'parts', baseUrl: partner.url, connector: { pull: { single } } });
  const ask = (id: string) => fetchSingle(ports, 'parts' as IntegrationName, id);
  for (const id of ['R1', 'P1/', '/R1', 'P1/R1/2']) {
    const answer = await ask(id);
    assert.ok(answer.kind === 'failed' && answer.code === 'pull.wrong_shape', id);
    assert.match(answer.message, /2 parts/);
  }
  assert.equal(partner.requests.length, 0);
  await ask('P 1/R1');
  assert.equal(partner.requests[0]?.pathQuery, '/properties/P%201/reservations/R1');
});
