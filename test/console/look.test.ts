import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { settleAlerts } from '../../src/operator/store/alerts.ts';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { barriers, barriersAt } from './support/look.ts';
import { booking, openSetup, type Setup, skip } from './support/setup.ts';

/** Every page: accessible, and never wider than the screen. */
describe('the pages are accessible', { skip }, () => {
  let setup: Setup;
  let page: Page;
  /** Fills in {run} and the like in the addresses below. */
  const ids: Record<string, string> = {};
  before(async () => {
    setup = await openSetup();
    setup.crm.refuse = (id) => id === 'R7';
    const event = { event: 'reservation.created' };
    const long = 'long'.repeat(50);
    await setup.push('grand', { ...event, event_id: 'e7', data: booking('R7', { confirmation_number: long }) });
    await setup.push('grand', { ...event, event_id: 'e8', data: booking(`R8-${long}`, { check_out: '2031-05-01' }) });
    await setup.api('POST', '/integrations/grand/runs', { sync: 'pre_stay' });
    const { source } = await setup.api<{ source: string }>('GET', '/documents/integration/grand');
    const text = source.replace('every: 60m', 'every: 30m');
    await setup.api('PUT', '/documents/integration/grand', { text });
    await setup.api('PUT', '/secrets/crm-key', { value: 'swordfish' });
    const alert = { kind: 'test', integration: 'grand', subject: '', severity: 'critical', detail: {} } as const;
    await settleAlerts(setup.service.runtime.pool, [{ ...alert, message: 'No answer.' }], ['test']);
    const job = await setup.api<{ job_id: string }>('POST', '/jobs', { operation: 'reprocess', integration: 'grand' });
    ids.job = job.job_id;
    await until('two dead letters, a run and an incident', async () => {
      const letters = await setup.api<{ items: { id: string; kind: string }[] }>('GET', '/dead-letters');
      const runs = await setup.api<{ items: { run_id: string }[] }>('GET', '/runs');
      const incidents = await setup.api<{ items: { incident_id: string }[] }>('GET', '/incidents');
      for (const { id, kind } of letters.items) ids[kind] = id;
      ids.run = runs.items[0]?.run_id ?? '';
      ids.incident = incidents.items[0]?.incident_id ?? '';
      return letters.items.length === 2 && ids.run !== '' && ids.incident !== '';
    });
    page = await setup.signIn();
  });
  after(() => setup?.stop());

  for (const at of [
    '/',
    '/integrations',
    '/integrations/grand',
    '/hotels/grand',
    '/runs',
    '/runs/{run}',
    '/reservations',
    '/reservations?q=nobody',
    '/reservations/grand/reservations/R7',
    '/dead-letters',
    '/dead-letters/{event}',
    '/dead-letters/{delivery}',
    '/dead-letters/999',
    '/jobs',
    '/jobs/{job}',
    '/incidents',
    '/incidents/{incident}',
    '/alerts',
    '/events',
    '/events/grand/1',
    '/destinations',
    '/studio?connector=hotel',
    '/documents',
    '/documents/integration/grand',
    '/documents/integration/grand?version=1',
    '/secrets',
    '/onboard',
    '/privacy',
    '/tokens',
    '/people',
    '/performance',
    '/night',
    '/integrations/grand?tab=push',
    '/integrations/grand?tab=quality',
    '/audit',
    '/no-such-page',
  ]) {
    test(at, async () => {
      const address = at.replace(/\{(\w+)\}/, (_, what: string) => ids[what] ?? '');
      assert.deepEqual(await barriersAt(page, address), []);
    });
  }

  test('the studio with a linked record', async () => {
    await page.evaluate(`sessionStorage.setItem('innbound draft studio sample', JSON.stringify({ savedMs: 0,
      value: ${JSON.stringify(JSON.stringify({ reservations: [booking('S1')] }))} }))`);
    assert.deepEqual(await barriersAt(page, '/studio?connector=hotel'), []);
    assert.equal(await page.getByRole('region', { name: 'Raw record, linked' }).count(), 1);
  });

  test('the reasons of dead letters are areas, and each leads to its letters', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go(page, '/dead-letters');
    const areas = page.getByRole('navigation', { name: 'Reasons by number of records' }).getByRole('link');
    assert.equal(await areas.count(), 2);
    assert.match((await areas.first().textContent()) ?? '', /^50 %/);
    await areas.first().click();
    await page.getByRole('heading', { name: '1 dead letter' }).waitFor();
  });

  test('the menu on a phone, dialogs, and the sign-in page', async () => {
    const phone = await setup.signIn({ phone: true, scheme: 'light' });
    await phone.getByRole('button', { name: 'More' }).click();
    await phone.getByRole('link', { name: 'Tokens' }).waitFor();
    assert.deepEqual(await barriers(phone), []);
    await phone.getByRole('link', { name: 'Tokens' }).click();
    await phone.getByRole('button', { name: 'New token' }).click();
    await phone.getByLabel('What it is for').waitFor();
    assert.deepEqual(await barriers(phone), []);
    await go(phone, '/dead-letters');
    await phone.getByRole('button', { name: 'Replay all 2 …' }).click();
    await phone.getByRole('button', { name: 'Replay 2 dead letters' }).waitFor();
    assert.deepEqual(await barriers(phone), []);
    await phone.goto(`${setup.url}/sign-in`);
    await phone.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await barriers(phone), []);
  });
});
