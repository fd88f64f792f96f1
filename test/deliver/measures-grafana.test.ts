import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { on, openBooks } from './measures-books.ts';

interface Query {
  readonly rawSql: string;
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly Query[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

test('every query of the Grafana dashboard answers from the warehouse', async (t) => {
  const { deliver, ask } = await openBooks(t, {
    brandId: 'LIS01',
    timezone: 'Europe/Lisbon',
    roomsAvailable: [['1900-01-01', 10]],
  });
  const booked = { booking_date: '2026-11-01', channel: 'direct', guests: [{ guest_id: 'G1', nationality: 'PT' }] };
  await deliver([on('2026-11-25', 'A', booked), on('2026-11-25', 'B', { ...booked, status: 'cancelled' })]);
  const text = await readFile(new URL('../../ops/grafana/warehouse.json', import.meta.url), 'utf8');
  const { panels, templating } = JSON.parse(text) as Dashboard;
  const brands = await ask(templating.list.find(({ name }) => name === 'integration')?.query ?? '');
  assert.deepEqual(brands, [{ integration: 'lisbon' }]);
  const answers = new Map<string, Record<string, unknown>[]>();
  for (const { title, targets } of panels)
    for (const { rawSql } of targets) {
      // As Grafana fills them in.
      const sql = rawSql
        .replaceAll('$integration', `'lisbon'`)
        .replaceAll('$__timeFrom()', `'2026-11-01T00:00:00Z'`)
        .replaceAll('$__timeTo()', `'2027-01-31T00:00:00Z'`);
      assert.doesNotMatch(sql, /\$/, title);
      answers.set(title, await ask(sql));
      assert.ok((answers.get(title)?.length ?? 0) > 0, title);
    }
  const value = (title: string, column: string) => Number(answers.get(title)?.[0]?.[column]);
  assert.equal(value('Occupancy', 'occupancy'), 10);
  assert.equal(value('ADR', 'adr'), 100);
  assert.equal(value('RevPAR', 'revpar'), 10);
  assert.equal(value('Cancelled', 'percent'), 50);
});
