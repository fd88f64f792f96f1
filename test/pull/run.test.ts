import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPullGround, type PullGround, sync } from './support/ground.ts';
import { arriving, bookings, type ScriptedPartner, startPartner } from './support/partner.ts';

let ground: PullGround;
const partners: ScriptedPartner[] = [];
before(async () => {
  ground = await openPullGround();
});
after(async () => {
  for (const partner of partners) await partner.close();
  await ground.close();
});

test('a backfill over three weeks brings every reservation, page by page', async () => {
  const book = bookings(210, '2026-03-01');
  const partner = await startPartner((asked) => {
    const rows = arriving(book, asked);
    const offset = Number(asked.query.get('offset'));
    const limit = Number(asked.query.get('limit'));
    return { json: { reservations: rows.slice(offset, offset + limit), total: rows.length } };
  });
  partners.push(partner);
  const ports = ground.ports({ integration: 'plain', baseUrl: partner.url });
  const result = await sync(ports, 'plain', { from: '2026-03-01', to: '2026-03-21' });
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.equal(result.counters.fetched, 210);
  assert.equal(result.counters.changed, 210);
  assert.deepEqual(
    (await ground.stored('plain')).map(({ id }) => id),
    book.map(({ id }) => id),
  );
  const again = await sync(ports, 'plain', { from: '2026-03-01', to: '2026-03-21' });
  assert.deepEqual([again.state, again.counters.changed, again.counters.unchanged], ['complete', 0, 210]);
});
