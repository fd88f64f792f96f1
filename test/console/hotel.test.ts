import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { countHotel } from '../../src/store/records/hotel-report.ts';
import { until } from '../support/process.ts';
import { booking, type Desk, openDesk, skip, textOf } from './support/desk.ts';
import { go } from './support/go.ts';
import { barriers, barriersAt } from './support/look.ts';

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
  let desk: Desk;
  let page: Page;
  const today = Temporal.Now.plainDateISO('Europe/Lisbon');
  const day = (n: number) => today.add({ days: n }).toString();
  const stay = (id: string, from: number, to: number, more: object = {}) =>
    booking(id, { check_in: day(from), check_out: day(to), booking_date: day(-30), channel: 'direct', ...more });
  before(async () => {
    desk = await openDesk({ 'integrations/grand.yaml': grand });
    const stays = [
      stay('H1', 0, 2),
      stay('H2', 0, 3, { channel: 'Booking.com' }),
      stay('H3', -2, 0, { status: 'checked-out' }),
      stay('H4', 5, 7, { status: 'cancelled', cancelled_at: day(-1) }),
      ...[0, 1, 2, 3, 4].map((n) => stay(`full-${n}`, 12, 14)),
    ];
    for (const data of stays)
      await desk.push('grand', { event: 'reservation.created', event_id: data.reservation_id, data });
    const { pool } = desk.service.runtime;
    const stored = `select count(*)::int as n from records where type = 'reservation' and version > 0`;
    await until('the bookings are stored', async () => (await pool.query(stored)).rows[0].n === stays.length);
    await countHotel(pool, { integration: 'grand', timezone: 'Europe/Lisbon', isPushed: true, isPulled: false });
    page = await desk.signIn();
  });
  after(() => desk?.stop());

  const figure = async (label: string) => textOf(page.locator('.figure').filter({ hasText: label }).locator('.value'));

  test('shows today, the calendar, pace, channels and how good the data is', async () => {
    await go(page, '/integrations/grand');
    await page.getByRole('link', { name: 'This morning' }).click();
    await page.getByRole('heading', { name: 'grand, this morning' }).waitFor();
    assert.equal(await figure('Arrivals today'), '2');
    assert.equal(await figure('Departures today'), '1');
    assert.equal(await figure('In house tonight'), '2');
    assert.equal(await figure('Cancelled in 7 days'), '1');
    const calendar = page.getByRole('table', { name: 'The next 90 nights' });
    const cells = await calendar.locator('td[title]').evaluateAll((all) => all.map((one) => one.getAttribute('title')));
    assert.equal(cells.length, 90);
    assert.match(cells[0] ?? '', /2 rooms sold of 4, 0 a year ago/);
    assert.equal(
      await calendar.locator('td[data-over="true"]').count(),
      2,
      'two nights are sold more often than there are rooms',
    );
    assert.match(await textOf(page.getByRole('table', { name: 'Pace' })), /1–3015/);
    assert.match(await textOf(page.getByRole('table', { name: 'Channels' })), /direct\s*80 %12Booking\.com\s*20 %3/);
    await page.getByText('Guests with an e-mail address').waitFor();
  });

  test('says first that the connection is not well, and nothing about it that it does not know', async () => {
    const brand = '**/api/v1/integrations/grand?*';
    const refuse = (body: object, status: number) =>
      page.route(brand, (route) => route.fulfill({ status, json: body }));
    const now = await desk.api<object>('GET', '/integrations/grand?hours=3');
    await refuse({ ...now, state: 'failing', reasons: ['The circuit is open.'] }, 200);
    await page.goto(`${desk.url}/hotels/grand`);
    await page.locator('.notice', { hasText: 'may be incomplete or old' }).waitFor();
    assert.match(await textOf(page.locator('.notice')), /The circuit is open\./);
    await page.unroute(brand);
    await refuse({ code: 'operate.unexpected', detail: 'Something failed.' }, 403);
    await page.goto(`${desk.url}/hotels/grand`);
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
