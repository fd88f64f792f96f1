import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { booking, type Desk, openDesk, skip } from './support/desk.ts';
import { barriersAt } from './support/look.ts';

/** The pages of the operator: accessible, and never wider than the screen. */
describe('the pages of the operator are accessible', { skip }, () => {
  let desk: Desk;
  let page: Page;
  /** Fills in {run} and the like in the addresses below. */
  const ids: Record<string, string> = {};
  before(async () => {
    desk = await openDesk();
    desk.crm.refuse = (id) => id === 'R7';
    const event = { event: 'reservation.created' };
    await desk.push('grand', { ...event, event_id: 'e7', data: booking('R7') });
    await desk.push('grand', { ...event, event_id: 'e8', data: booking('R8', { check_out: '2031-05-01' }) });
    await desk.api('POST', '/integrations/grand/runs', { sync: 'pre_stay' });
    await until('two dead letters and a run', async () => {
      const letters = await desk.api<{ items: { id: string; kind: string }[] }>('GET', '/dead-letters');
      const runs = await desk.api<{ items: { run_id: string }[] }>('GET', '/runs');
      for (const { id, kind } of letters.items) ids[kind] = id;
      ids.run = runs.items[0]?.run_id ?? '';
      return letters.items.length === 2 && ids.run !== '';
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
    '/dead-letters/{event}',
    '/dead-letters/{delivery}',
    '/dead-letters/999',
  ]) {
    test(at, async () => {
      const address = at.replace(/\{(\w+)\}/, (_, what: string) => ids[what] ?? '');
      assert.deepEqual(await barriersAt(page, `${desk.url}${address}`), []);
    });
  }
});
