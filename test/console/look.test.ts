import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import { until } from '../support/process.ts';
import { booking, type Desk, openDesk, skip } from './support/desk.ts';

/** Every page, by day and by night, on a desk and in a hand: readable by all, and nothing wider than the screen. */
describe('every page', { skip }, () => {
  let desk: Desk;
  let pages: string[];
  before(async () => {
    desk = await openDesk();
    desk.crm.refuse = (id) => id === 'R7';
    await desk.push('grand', { event: 'reservation.created', event_id: 'e7', data: booking('R7') });
    await desk.push('grand', {
      event: 'reservation.created',
      event_id: 'e8',
      data: booking('R8', { check_out: '2031-05-01' }),
    });
    await desk.api('POST', '/integrations/grand/runs', { sync: 'pre_stay' });
    const letters = await until('two dead letters', async () => {
      const { items } = await desk.api<{ items: { id: string }[] }>('GET', '/dead-letters');
      return items.length === 2 && items;
    });
    const run = await until(
      'a run',
      async () => (await desk.api<{ items: { run_id: string }[] }>('GET', '/runs')).items[0],
    );
    pages = [
      '/',
      '/integrations',
      '/integrations/grand',
      '/runs',
      `/runs/${run.run_id}`,
      '/reservations',
      '/reservations?q=nobody',
      '/reservations/grand/reservations/R7',
      '/dead-letters',
      ...letters.map(({ id }) => `/dead-letters/${id}`),
      '/alerts',
      '/events',
      '/destinations',
      '/studio?connector=hotel',
      '/documents',
      '/documents/integration/grand',
      '/onboard',
      '/privacy',
      '/tokens',
      '/audit',
      '/no-such-page',
    ];
  });
  after(() => desk?.stop());

  for (const scheme of ['light', 'dark'] as const) {
    for (const phone of [false, true]) {
      test(`${scheme}, ${phone ? 'on a phone' : 'on a desk'}`, async () => {
        const page = await desk.signIn({ scheme, phone });
        const found: string[] = [];
        for (const at of pages) {
          await page.goto(`${desk.url}${at}`);
          await page.locator('h1').first().waitFor();
          await page.getByText('One moment').first().waitFor({ state: 'detached' });
          const { violations } = await new AxeBuilder({ page }).analyze();
          for (const { id, nodes } of violations) found.push(`${at}: ${id}: ${nodes[0]?.html.slice(0, 160)}`);
          const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          if (Number(wider) > 0) found.push(`${at}: ${wider} pixels wider than the screen`);
        }
        assert.deepEqual(found, []);
      });
    }
  }
});
