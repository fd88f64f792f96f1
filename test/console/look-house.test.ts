import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { booking, type Desk, openDesk, skip } from './support/desk.ts';
import { barriers, barriersAt } from './support/look.ts';

/** The pages of the engineer and the administrator: accessible, and never wider than the screen. */
describe('the pages of the engineer and the administrator are accessible', { skip }, () => {
  let desk: Desk;
  let page: Page;
  before(async () => {
    desk = await openDesk();
    await desk.push('grand', { event: 'reservation.created', event_id: 'e7', data: booking('R7') });
    const { source } = await desk.api<{ source: string }>('GET', '/documents/integration/grand');
    const text = source.replace('every: 60m', 'every: 30m');
    await desk.api('PUT', '/documents/integration/grand', { text });
    await desk.api('PUT', '/secrets/crm-key', { value: 'swordfish' });
    page = await desk.signIn();
  });
  after(() => desk?.stop());

  for (const at of [
    '/alerts',
    '/events',
    '/destinations',
    '/studio?connector=hotel',
    '/documents',
    '/documents/integration/grand',
    '/documents/integration/grand?version=1',
    '/events/grand/1',
    '/secrets',
    '/onboard',
    '/privacy',
    '/tokens',
    '/audit',
    '/no-such-page',
  ]) {
    test(at, async () => assert.deepEqual(await barriersAt(page, `${desk.url}${at}`), []));
  }

  test('the menu on a phone, a dialog, and the sign-in page', async () => {
    const phone = await desk.signIn({ phone: true, scheme: 'light' });
    await phone.getByRole('button', { name: 'More' }).click();
    await phone.getByRole('link', { name: 'Tokens' }).waitFor();
    assert.deepEqual(await barriers(phone), []);
    await phone.getByRole('link', { name: 'Tokens' }).click();
    await phone.getByRole('button', { name: 'New token' }).click();
    await phone.getByLabel('Who or what it is for').waitFor();
    assert.deepEqual(await barriers(phone), []);
    await phone.goto(`${desk.url}/sign-in`);
    await phone.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.deepEqual(await barriers(phone), []);
  });
});
