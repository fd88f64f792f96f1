import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { readXml } from '../../../src/kit/xml.ts';
import { type Node, startNode } from './node.ts';
import { brandId } from './support.ts';

/** Events in XML, answered in XML: SiteMinder Exchange. */

let node: Node;
before(async () => {
  const smx = await readFile(new URL('../../../connectors/siteminder-smx/connector.yaml', import.meta.url), 'utf8');
  node = await startNode('{ enabled: true }', smx.replace('connector: siteminder-smx', 'connector: hotel'));
});
after(() => node.stop());

const message = (token: string, changes: { hotel?: string; status?: string } = {}) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<OTA_HotelResNotifRQ xmlns="http://www.opentravel.org/OTA/2003/05" Version="1.0" EchoToken="${token}" TimeStamp="2026-11-04T19:40:04Z">
<HotelReservations><HotelReservation ResStatus="${changes.status ?? 'Reserved'}" CreateDateTime="2026-11-04T19:32:04Z" LastModifyDateTime="2026-11-04T19:39:00Z"><UniqueID Type="14" ID="RES-1001"/>
<RoomStays><RoomStay><RoomTypes><RoomType RoomTypeCode="DBL"/></RoomTypes><GuestCounts><GuestCount AgeQualifyingCode="10" Count="2"/></GuestCounts><TimeSpan Start="2027-06-01" End="2027-06-02"/><BasicPropertyInfo HotelCode="${changes.hotel ?? brandId}"/></RoomStay></RoomStays>
<ResGuests><ResGuest ResGuestRPH="1"><Profiles><ProfileInfo><Profile ProfileType="1"><Customer><PersonName><GivenName>Ana</GivenName><Surname>Reis</Surname></PersonName></Customer></Profile></ProfileInfo></Profiles></ResGuest></ResGuests>
<ResGlobalInfo><Total AmountAfterTax="120.00" CurrencyCode="AUD"/></ResGlobalInfo></HotelReservation></HotelReservations></OTA_HotelResNotifRQ>`;

async function post(
  body: string,
  { type = 'application/xml; charset=utf-8', id = node.endpointId, secret = node.secret } = {},
) {
  const authorization = `Basic ${Buffer.from(`siteminder:${secret}`).toString('base64')}`;
  const answer = await fetch(`http://127.0.0.1:${node.port}/webhooks/${id}`, {
    method: 'POST',
    headers: { 'content-type': type, authorization },
    body,
  });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

test('an event in XML is answered by the document that the sender expects, a repetition too', async () => {
  for (const token of ['ABC-"123"&'.replaceAll('"', '&quot;').replace(/&$/, '&amp;'), 'ABC']) {
    for (const _ of ['first', 'again']) {
      const { status, type, text } = await post(message(token));
      assert.deepEqual([status, type], [200, 'text/xml; charset=utf-8'], text);
      const { OTA_HotelResNotifRS: answered } = readXml(Buffer.from(text)) as Record<string, Record<string, unknown>>;
      assert.equal(answered?.['@EchoToken'], token === 'ABC' ? 'ABC' : 'ABC-"123"&');
      assert.match(String(answered?.['@TimeStamp']), /^\d{4}-\d\d-\d\dT[\d:]+Z$/);
      assert.ok(answered !== undefined && 'Success' in answered);
    }
  }
  const { rows } = await node.pool.query('select count(*)::int as events from events');
  assert.deepEqual(rows, [{ events: 2 }]);
});

test('what is refused: another hotel, a bomb, a wrong password, JSON', async () => {
  const statusOf = async (...args: Parameters<typeof post>) => (await post(...args)).status;
  assert.equal(await statusOf(message('x', { hotel: 'OTHER' })), 422);
  const bomb = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>';
  const refused = await post(bomb);
  assert.deepEqual([refused.status, JSON.parse(refused.text).code], [400, 'push.not_xml']);
  assert.equal(await statusOf(message('x').slice(0, -30)), 400);
  assert.equal(await statusOf(message('x'), { secret: 'wrong' }), 401);
  assert.equal(await statusOf('{}', { type: 'application/json' }), 415);
  assert.equal(await statusOf(message('x'), { type: 'text/plain' }), 415);
});

test('the sandbox shows the record of an event in XML', async () => {
  const { status, text } = await post(message('s', { status: 'In-house' }), { id: node.sandboxId });
  assert.equal(status, 200);
  const report = JSON.stringify(JSON.parse(text));
  for (const part of ['RES-1001', 'checked_in', 'Reis', '"would_answer":{"status":202'])
    assert.ok(report.includes(part), `${part}: ${report}`);
});
