import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { countHotels } from '../../src/operator/operations/hotel-report.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

const brands = Array.from({ length: 24 }, (_, i) => `h${i}`);
const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe('the figures of hotels are on time', () => {
  let node: ApiNode;
  let token: string;
  before(async () => {
    const document = (name: string) =>
      `integration: ${name}\nconnector: hotel\nbrand_id: ${name}\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [lake]\n`;
    node = await apiNode('', Object.fromEntries(brands.map((name) => [`integrations/${name}.yaml`, document(name)])));
    token = await node.token('viewer');
    for (const [i, name] of brands.entries()) await change(name, i === 0 ? 353 : 20);
  });
  after(() => node.stop());

  const query = (sql: string, values: unknown[] = []) => node.runtime.pool.query(sql, values);
  /** New bookings, counted as the service counts activity. */
  const change = async (name: string, count: number, status = 'confirmed') => {
    const stay = (i: number) => ({ check_in: soon(1 + (i % 60)), check_out: soon(3 + (i % 60)), status });
    await node.take(name, ...Array.from({ length: count }, (_, i) => reservation(`R${i}`, stay(i))));
    await query(
      `insert into activity (integration, step, at, changes) values ($1, 'ever', 'epoch', $2)
       on conflict (integration, step, at) do update set changes = activity.changes + $2`,
      [name, count],
    );
  };
  const read = async (name: string) => (await node.call('GET', `/integrations/${name}/hotel`, token)).body.report;

  test('24 hotels at once, under load: one turn counts them all, and another node does not count them too', async () => {
    let busy = true;
    const load = Array.from({ length: 4 }, async () => {
      while (busy) await query('select count(*) from generate_series(1, 300000)');
    });
    await Promise.all([countHotels(node.runtime), countHotels(node.runtime)]);
    busy = false;
    await Promise.all(load);
    const { rows } = await query('select integration from hotels where report is not null');
    assert.equal(rows.length, brands.length);
  });

  test('who opens the page sees what has changed a moment ago, without waiting for the others', async () => {
    await query(`update hotels set counted_at = now() - interval '10 seconds'`);
    const before = await read('h0');
    assert.equal(before.behind, 0);
    await change('h0', 152, 'cancelled');
    const after = await read('h0');
    assert.equal(after.behind, 0, 'counted for the reader');
    assert.ok(after.counted_at > before.counted_at);
  });

  test('figures that are behind say by how many changes', async () => {
    await change('h0', 353, 'no_show');
    await query('update hotels set counted_at = now()');
    const old = await read('h0');
    assert.equal(old.behind, 353, 'counted less than five seconds ago, so not again');
  });
});
