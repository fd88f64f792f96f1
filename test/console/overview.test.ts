import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { settleAlerts } from '../../src/operator/store/alerts.ts';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { barriers } from './support/look.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

const brand = (name: string) =>
  `integration: ${name}\nconnector: hotel\nbrand_id: ${name.toUpperCase()}\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [crm]\n`;
const away = {
  kind: 'destination_away',
  integration: '',
  subject: 'crm',
  severity: 'critical',
  message: 'crm is not available.',
  detail: {},
} as const;

describe('the overview', { skip }, () => {
  let setup: Setup;
  const settle = async (alerts: readonly (typeof away)[]) => {
    const { pool } = setup.service.runtime;
    await settleAlerts(pool, alerts, [away.kind]);
  };
  before(async () => {
    setup = await openSetup({ 'integrations/quay.yaml': brand('quay'), 'integrations/mole.yaml': brand('mole') });
    await setup.push('grand', { event: 'reservation.created', event_id: 'e1', data: booking('R1') });
  });
  after(() => setup.stop());

  test('begins with the cause, once: whom it concerns and one button; brands name it, the picture leads to it', async () => {
    await settle([away]);
    for (const phone of [false, true]) {
      const page = await setup.signIn({ phone });
      const causes = page.getByRole('region', { name: 'One thing is wrong' });
      await causes.waitFor();
      const text = await textOf(causes);
      assert.match(text, /Deliveries to crm.*Critical.*crm is not available\..*concerns grand, mole, quay/s);
      assert.equal(await causes.getByRole('listitem').count(), 1);
      const order = await page.locator('main h2').allTextContents();
      assert.deepEqual(order.slice(0, 3), ['One thing is wrong', 'Flow', 'Health of each brand']);
      assert.equal((await page.getByText('crm is not available').all()).length, 1, 'not again for each brand');
      assert.equal(await page.locator('table.list .muted', { hasText: 'Deliveries to crm' }).count(), 3);
      assert.deepEqual(await barriers(page), []);
      if (phone) continue;
      assert.match(await textOf(page.getByRole('link', { name: /^Incidents/ })), /1 open/);
      await page.getByRole('list', { name: 'Destinations' }).getByRole('link', { name: 'crm' }).click();
      await page.waitForURL('**/incidents/*');
      await page.getByRole('heading', { name: 'Deliveries to crm' }).waitFor();
      await go(page, '/');
      await causes.getByRole('link', { name: 'See its answers' }).click();
      await page.waitForURL('**/destinations');
    }
  });

  test('without a cause there is no banner and no badge', async () => {
    await settle([]);
    const page = await setup.signIn();
    await page.getByRole('heading', { name: 'Flow', exact: true }).waitFor();
    assert.equal(await page.locator('.causes').count(), 0);
    assert.equal(await textOf(page.getByRole('link', { name: 'Incidents' })), 'Incidents');
    await page.getByRole('list', { name: 'Partners' }).getByRole('link', { name: 'grand' }).click();
    await page.waitForURL('**/integrations/grand');
  });

  test('no curve is always zero, and the days say what they mean', async () => {
    const page = await setup.signIn();
    await go(page, '/performance');
    const backlog = page.locator('.card', { has: page.getByRole('heading', { name: 'Changes waiting for delivery' }) });
    assert.doesNotMatch(await textOf(backlog), /dead/);
    const days = page.getByRole('table', { name: 'Completeness by brand and day' });
    await days.getByRole('rowheader', { name: 'mole' }).waitFor();
    assert.equal(await days.locator('tbody tr').first().locator('td').count(), 7, 'no blank columns on day one');
    assert.match(await textOf(days.locator('tbody tr').first().locator('td').first()), /before its first data/);
  });

  test('a fault that no alert reports yet is at the top already', async () => {
    const { url } = await setup.api<{ url: string }>('POST', '/integrations/quay/endpoint', {});
    const wrong = { url, secret: `whsec_${Buffer.from('not the secret of the brand').toString('base64')}` };
    for (let sent = 0; sent < 12; sent++) {
      await assert.rejects(setup.pushTo(wrong, { event: 'reservation.created', data: booking('R1') }), /401/);
    }
    // Refusals are written once a second, and the page looks again after twenty.
    await until('the overview knows it', async () =>
      /refused/.test(JSON.stringify(await setup.api('GET', '/overview'))),
    );
    const page = await setup.signIn();
    const banner = page.getByRole('region', { name: /wrong$/ });
    await banner.getByText(/webhooks were refused/).waitFor();
    assert.match(await textOf(banner), /quay/);
  });

  test('the browser reported no error', () => assert.deepEqual(setup.complaints, []));
});
