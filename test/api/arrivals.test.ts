import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { pullPorts } from '../../src/composition/pull.ts';
import { syncOnce } from '../../src/core/intake/pull/run/sync-once.ts';
import type { IntegrationName, Json, JsonObject } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

const day = (from: number) => new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);
const stay = (id: string, last: string, more: { [key: string]: Json } = {}): Json =>
  reservation(id, {
    check_in: day(3),
    check_out: day(5),
    guests: [
      {
        first_name: 'Rui',
        last_name: last,
        email: `${last}@post.example`,
        phone: `+351 912 345 6${id.length}${id.length}`,
      },
    ],
    ...more,
  });

/** Everything that ever arrived is found, with what became of it. */
describe('one search', () => {
  let node: ApiNode;
  let admin: string;
  let runId: string;
  let rows: Json[] = [
    stay('R1', 'Kept'),
    stay('R20', 'Contrary', { check_out: day(1) }),
    stay('ACCENT', 'Straße_Ñandú', { check_out: day(1) }),
    stay('R300', 'Tester', { confirmation_number: 'TEST' }),
    stay('R4000', 'Departed', { check_in: day(-3), check_out: day(-1), status: 'checked_out' }),
  ];
  const partner = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ reservations: rows }));
  });
  before(async () => {
    await new Promise<void>((ready) => partner.listen(0, '127.0.0.1', ready));
    const base = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
    node = await apiNode('', {
      'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: UTC
country: PT
pull:
  base_url: ${base}
  auth: { type: none }
  syncs:
    pre_stay: { every: 15m, range: [+1d, +7d] }
push: { enabled: true }
transforms:
  - { when: 'confirmation_number == "TEST"', drop: true, note: no test bookings }
deliver: [lake]
`,
      'connectors/slim.yaml': `connector: slim
pull:
  request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } }
  single: { path: "/list/{id}" }
  pagination: { type: none }
shape: { root_path: reservations }
push: { thin: { id: ref } }
`,
      'integrations/slim.yaml': `integration: slim
connector: slim
brand_id: SLM01
timezone: UTC
pull: { base_url: "http://127.0.0.1:1", auth: { type: none }, syncs: { pre_stay: { every: 15m, range: [+1d, +7d] } } }
push: { enabled: true }
deliver: [lake]
`,
    });
    admin = await node.token('admin');
    const request = {
      integration: 'grand' as IntegrationName,
      kind: 'manual',
      sync: 'pre_stay',
      requestedBy: 'test',
    } as const;
    runId = (await syncOnce(pullPorts(node.runtime), request)).runId;
    rows = [];
  });
  after(async () => {
    partner.close();
    await node.stop();
  });

  const query = (sql: string, values: unknown[] = []) => node.runtime.pool.query(sql, values);
  const search = async (q: string, token = admin) =>
    (await node.call('GET', `/arrivals?q=${encodeURIComponent(q)}`, token)).body;
  const one = async (q: string, token = admin) => {
    const { items } = await search(q, token);
    assert.equal(items.length, 1, `${q}: ${JSON.stringify(items)}`);
    return items[0];
  };

  test('a dead letter, by id, number, name, e-mail address and phone', async () => {
    for (const q of [
      'R20',
      'C-R20',
      'Contrary',
      'rui contrary',
      'contrary@post.example',
      '+351912345633',
      '912 345 633',
    ]) {
      const found = await one(q);
      assert.deepEqual([found.outcome, found.id, found.integration], ['dead_letter', 'R20', 'grand'], q);
      assert.match(found.reason, /check_out must not be before check_in/);
      assert.match(found.dead_letter_id, /^\d+$/);
    }
  });

  test('a name with or without its accents, and signs as they are', async () => {
    for (const q of ['nandu', 'ÑANDÚ', 'straße', 'e_n']) assert.equal((await one(q)).id, 'ACCENT', q);
    assert.deepEqual((await search('s.raße')).items, []);
  });

  test('dropped by which rule, in which run', async () => {
    for (const q of ['R300', 'tester@post.example', 'Tester']) {
      const found = await one(q);
      assert.deepEqual([found.outcome, found.id, found.run_id], ['dropped', 'R300', runId], q);
      assert.match(found.reason, /no test bookings/);
    }
  });

  test('dropped by a rule from an event', async () => {
    const { id: _, ...sent } = stay('R50', 'Pusher', { confirmation_number: 'TEST', note: 'by event' }) as JsonObject;
    await node.send('grand', 'reservation.created', { reservation_id: 'R50', ...sent });
    for (const q of ['R50', 'pusher@post.example', 'Rui Pusher']) {
      const found = await one(q);
      assert.deepEqual([found.outcome, found.id, found.run_id], ['dropped', 'R50', null], q);
      assert.match(found.reason, /no test bookings/);
    }
  });

  test('not for this sync', async () => {
    const found = await one('R4000');
    assert.deepEqual([found.outcome, found.run_id], ['not_for_this_sync', runId]);
  });

  test('a record is not reported here, unless the partner no longer lists it', async () => {
    assert.deepEqual((await search('R1')).items, []);
    await query(
      `update records set unlisted = jsonb_build_object('since', now(), 'run', $1::text, 'answer', 'absent')
        where integration = 'grand' and id = 'R1'`,
      [runId],
    );
    for (const q of ['R1', 'kept@post.example']) assert.equal((await one(q)).outcome, 'unlisted', q);
    await query('update records set unlisted = null');
  });

  test('held and superseded', async () => {
    await query(
      `insert into history (integration, type, id, effective_at, seq, cause, cause_id, outcome, reason, raw)
       values ('grand', 'reservation', 'R5', now(), 1, 'run', $1, 'held', 'Held: another hotel''s list.', '{"ref":"HELD-5"}')`,
      [runId],
    );
    assert.equal((await one('HELD-5')).outcome, 'dropped', 'somebody refused it');
    await query(
      `insert into records (integration, type, id, version, effective_at, seq, data, held)
       values ('grand', 'reservation', 'R5', 0, now(), 0, '{}', '{hld_1}')`,
    );
    const held = await one('HELD-5');
    assert.deepEqual([held.outcome, held.reason], ['held', "Held: another hotel's list."]);
    await query(`update records set held = '{hld_1}' where id = 'R1' and integration = 'grand'`);
    const [listed] = (await node.call('GET', '/reservations?q=R1', admin)).body.items;
    assert.deepEqual([listed.held, listed.open_dead_letters], [1, 0], 'a held value is not a dead letter');
    await query(`update records set held = null where id = 'R1' and integration = 'grand'`);
    await node.send('grand', 'reservation.created', reservation('R6'));
    await node.send('grand', 'reservation.updated', reservation('R6', { total_amount: 1 }), Date.now() - 86_400_000);
    assert.equal((await one('R6')).outcome, 'superseded');
  });

  test('accepted and not applied yet: its reservation is to be fetched, or its turn has not come', async () => {
    await node.send('slim', 'reservation.created', { ref: 'T7' });
    await node.send('slim', 'reservation.updated', { ref: 'T7' });
    const found = await one('T7');
    assert.deepEqual([found.outcome, found.integration, found.id, found.times], ['waiting', 'slim', 'T7', 2]);
    assert.match(found.reason, /not applied yet: its reservation is fetched/);
    await node.take('slim', reservation('T8'));
    await node.send('slim', 'reservation.cancelled', { ref: 'T8' });
    assert.equal((await one('C-T8')).outcome, 'waiting', 'of a record that the search finds by another field');
    await query(
      `update events set state = 'waiting', id = null, due_at = now() where integration = 'grand' and id = 'R6'`,
    );
    for (const q of ['C-R6', 'ana.r6@mail.example']) assert.equal((await one(q)).outcome, 'waiting', q);
  });

  test('erased, for those who may know it', async () => {
    await node.call('POST', '/privacy/erasures', admin, { email: 'kept@post.example' });
    const found = await one('kept@post.example');
    assert.equal(found.outcome, 'erased');
    assert.match(found.id, /^era_/);
    const viewer = await node.token('viewer');
    assert.deepEqual((await search('kept@post.example', viewer)).items, []);
  });

  test('nothing found says since when was searched, and what cannot be', async () => {
    await query(
      `insert into rejections (integration, endpoint_id, code, reason, hour, count, newest) values ('grand', 'ep', 'push.unauthorized', 'signature_wrong', date_trunc('hour', now()), 7, '[]')`,
    );
    const { items, refused } = await search('nobody at all');
    assert.deepEqual([items, refused], [[], 7]);
  });

  test('a caller sees the brands of the token only, and a search is audited', async () => {
    const other = await node.token('viewer', ['other']);
    const answer = await search('R20', other);
    assert.deepEqual([answer.items, answer.refused], [[], 0]);
    const { items } = (await node.call('GET', '/audit?action=arrivals.search', admin)).body;
    assert.ok(items.length > 0);
    assert.ok(!JSON.stringify(items).includes('post.example'), 'the audit names no guest');
  });
});
