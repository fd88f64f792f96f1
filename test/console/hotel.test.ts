import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { countHotel } from '../../src/operator/store/measures/hotel-report.ts';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { barriers, barriersAt } from './support/look.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

const grand = `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
rooms_available: { 2020-01-01: 4 }
push: { enabled: true }
deliver: [lake]
`;

/** The page of a hotel: what it shows, in four looks and on paper. */
describe('the page of a hotel', { skip }, () => {
  let setup: Setup;
  let page: Page;
  const today = Temporal.Now.plainDateISO('Europe/Lisbon');
  const day = (n: number) => today.add({ days: n }).toString();
  const stay = (id: string, from: number, to: number, more: object = {}) =>
    booking(id, {
      check_in: day(from),
      check_out: day(to),
      booking_date: day(-30),
      channel: 'direct',
      total_amount: 100 * (to - from),
      currency: 'EUR',
      ...more,
    });
  before(async () => {
    setup = await openSetup({ 'integrations/grand.yaml': grand });
    const stays = [
      stay('H1', 0, 2),
      stay('H2', 0, 3, { channel: 'Booking.com' }),
      stay('H3', -2, 0, { status: 'checked-out' }),
      stay('H4', 5, 7, { status: 'cancelled', cancelled_at: day(-1) }),
      ...[0, 1, 2, 3, 4].map((n) => stay(`full-${n}`, 12, 14)),
    ];
    for (const data of stays)
      await setup.push('grand', { event: 'reservation.created', event_id: data.reservation_id, data });
    const { pool } = setup.service.runtime;
    const stored = `select count(*)::int as n from records where type = 'reservation' and version > 0`;
    await until('the bookings are stored', async () => (await pool.query(stored)).rows[0].n === stays.length);
    await countHotel(pool, { integration: 'grand', timezone: 'Europe/Lisbon', isPushed: true });
    page = await setup.signIn();
  });
  after(() => setup?.stop());

  const figure = async (label: string) => textOf(page.locator('.figure').filter({ hasText: label }).locator('.value'));

  test('shows today, the calendar, pace, channels and how good the data is', async () => {
    await go(page, '/integrations/grand');
    await page.getByRole('link', { name: 'This morning' }).click();
    await page.getByRole('heading', { name: 'grand, this morning' }).waitFor();
    assert.equal(await figure('Arrivals today'), '2');
    assert.equal(await figure('Departures today'), '1');
    assert.equal(await figure('In house tonight'), '2');
    assert.equal(await figure('Cancelled in 7 days'), '1');
    assert.match(await textOf(page.locator('.figure').filter({ hasText: 'Cancelled' })), /2 room nights, €200/);
    assert.equal(await figure('Room revenue tonight'), '€200');
    assert.equal(await figure('ADR tonight'), '€100');
    await page.getByText('RevPAR €50').waitFor();
    const calendar = page.getByRole('table', { name: 'The next 90 nights' });
    const cells = await calendar.locator('td[title]').evaluateAll((all) => all.map((one) => one.getAttribute('title')));
    assert.equal(cells.length, 90);
    assert.match(cells[0] ?? '', /2 rooms sold of 4$/, 'nobody knows the year before');
    assert.equal(
      await calendar.locator('td[data-over="true"]').count(),
      2,
      'two nights are sold more often than there are rooms',
    );
    assert.match(await textOf(page.getByRole('table', { name: 'Pace' })), /1–3015/);
    assert.match(
      await textOf(page.getByRole('table', { name: 'Channels' })),
      /direct\s*80 %12€1,200Booking\.com\s*20 %3€300/,
    );
    await page.getByText(/^\d+ bookings?, \d+ % with e-mail$/).waitFor();
  });

  test('hatches the nights that nobody asked the partner for, and says so', async () => {
    const { pool } = setup.service.runtime;
    const pulled = { integration: 'grand', timezone: 'Europe/Lisbon', isPushed: true, pulledBy: 'grand' };
    await pool.query(
      `insert into runs (integration, run_id, sync, kind, state, from_date, to_date, requested_by, finished_at)
       values ('grand', 'asked', 'backfill', 'backfill', 'complete', $1, $2, 'test', now())`,
      [day(0), day(27)],
    );
    const { rows } = await pool.query('delete from hotels returning asked');
    assert.equal(rows.length, 1);
    await countHotel(pool, pulled);
    await page.goto(`${setup.url}/hotels/grand`);
    await page.getByText('62 nights of the next 90 are not known').waitFor();
    assert.equal(await page.locator('table.nights td[data-unknown="true"]').count(), 62);
    assert.match(
      (await page.locator('table.nights td[data-unknown="true"]').first().getAttribute('title')) ?? '',
      /not known/,
    );
  });

  test('a manager enters a budget, and sees past months', async () => {
    await page.goto(`${setup.url}/hotels/grand`);
    const months = page.getByRole('table', { name: 'Months' });
    const current = today.toLocaleString('en-GB', { month: 'long', year: 'numeric' });
    await months.getByRole('button', { name: `Enter the budget of ${current}` }).click();
    await page.getByLabel(`Budget of ${current}`).fill('12000');
    await page.keyboard.press('Enter');
    await months.getByText('€12,000').waitFor();
    assert.equal(await months.locator('tbody tr').count(), 5);
    await page.getByRole('button', { name: 'Show twelve months back' }).click();
    assert.equal(await months.locator('tbody tr').count(), 15);
    const reader = await setup.signIn({ role: 'viewer' });
    await reader.goto(`${setup.url}/hotels/grand`);
    await reader.getByText('€12,000').waitFor();
    assert.equal(await reader.getByRole('button', { name: /budget/ }).count(), 0);
  });

  test('says first that the connection is not well, and nothing about it that it does not know', async () => {
    const brand = '**/api/v1/integrations/grand?*';
    const refuse = (body: object, status: number) =>
      page.route(brand, (route) => route.fulfill({ status, json: body }));
    const now = await setup.api<object>('GET', '/integrations/grand?hours=3');
    const finding = (cause: string, message: string) => ({ kind: 'x', subject: '', cause, state: 'failing', message });
    const findings = [finding('destination:crm', 'crm is away.'), finding('partner:x', 'The API does not work.')];
    await refuse({ ...now, state: 'failing', findings }, 200);
    await page.goto(`${setup.url}/hotels/grand`);
    await page.locator('.notice', { hasText: 'Read these numbers with care' }).waitFor();
    const said = await textOf(page.locator('.notice[data-tone="warn"]'));
    assert.match(said, /The API does not work\./);
    assert.doesNotMatch(said, /crm/, 'who receives the numbers is not why they are old');
    await page.unroute(brand);
    await refuse({ code: 'operate.unexpected', detail: 'Something failed.' }, 403);
    await page.goto(`${setup.url}/hotels/grand`);
    await page.getByText('Something failed.').first().waitFor();
    assert.doesNotMatch(await textOf(page.getByRole('main')), /Last pollnone/);
    await page.unroute(brand);
  });

  test('is accessible and no wider than the screen, in four looks', async () => {
    assert.deepEqual(await barriersAt(page, '/hotels/grand'), []);
    assert.deepEqual(await barriersAt(page, '/hotels/grand'), []);
  });

  test('prints without the frame of the console', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go(page, '/hotels/grand');
    await page.emulateMedia({ media: 'print' });
    for (const part of ['.rail', '.finder', '.head .actions'])
      assert.equal(await page.locator(part).isVisible(), false, part);
    assert.ok(await page.getByRole('table', { name: 'The next 90 nights' }).isVisible());
    assert.deepEqual(await barriers(page), []);
    await page.emulateMedia({ media: 'screen' });
  });
});
