import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { booking, type Desk, openDesk, skip } from './support/desk.ts';
import { barriersAt } from './support/look.ts';

/** The pages of who watches: readable by all, and nothing wider than the screen. */
describe('the pages of the desk keep nobody out', { skip }, () => {
  let desk: Desk;
  let page: Page;
  let runId = '';
  before(async () => {
    desk = await openDesk();
    desk.crm.refuse = (id) => id === 'R7';
    const event = { event: 'reservation.created' };
    await desk.push('grand', { ...event, event_id: 'e7', data: booking('R7') });
    await desk.push('grand', { ...event, event_id: 'e8', data: booking('R8', { check_out: '2031-05-01' }) });
    await desk.api('POST', '/integrations/grand/runs', { sync: 'pre_stay' });
    await until('two dead letters', async () => {
      const { total } = await desk.api<{ total: number }>('GET', '/dead-letters');
      return total === 2;
    });
    runId = await until('a run', async () => {
      const { items } = await desk.api<{ items: { run_id: string }[] }>('GET', '/runs');
      return items[0]?.run_id;
    });
    page = await desk.signIn();
  });
  after(() => desk?.stop());

  for (const at of [
    '/',
    '/integrations',
    '/integrations/grand',
    '/runs',
    '/runs/{run}',
    '/reservations',
    '/reservations?q=nobody',
    '/reservations/grand/reservations/R7',
    '/dead-letters',
    '/dead-letters/1',
    '/dead-letters/2',
  ]) {
    test(at, async () => assert.deepEqual(await barriersAt(page, `${desk.url}${at.replace('{run}', runId)}`), []));
  }
});
