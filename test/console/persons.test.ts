import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { booking, type Desk, openDesk, skip, textOf } from './support/desk.ts';
import { go } from './support/go.ts';
import { barriersAt } from './support/look.ts';

/** The operator: who is who? */
describe('the guests of a brand', { skip }, () => {
  let desk: Desk;
  let page: Page;
  const email = 'desk@agency.example';
  const john = { first_name: 'John', last_name: 'Smith', email };
  const mary = { first_name: 'Mary', last_name: 'Jones', email };
  before(async () => {
    const lake = 'destination: lake\ntype: files\npath: out\nreceives: [reservation, guest]\n';
    desk = await openDesk({ 'destinations/lake.yaml': lake });
    const people = [john, mary, { ...john, nationality: 'GB' }, { ...mary, nationality: 'IE' }];
    for (const [n, guest] of people.entries()) {
      const data = booking(`P${n}`, { guests: [guest] });
      await desk.push('grand', { event: 'reservation.created', event_id: `p${n}`, data });
      await until('the guest has a profile', async () => {
        const { items } = await desk.api<{ items: unknown[] }>('GET', '/guests?q=desk%40agency.example');
        return items.length === n + 1;
      });
    }
    await desk.push('grand', { event: 'guest.updated', event_id: 'u1', data: { ...mary, phone: '+351912000111' } });
    page = await desk.signIn({ role: 'operator' });
  });
  after(() => desk?.stop());

  test('an ambiguous event is assigned to one of the persons whom it may mean', async () => {
    await until('the event is a dead letter', async () => {
      const { total } = await desk.api<{ total: number }>('GET', '/dead-letters?code=push.guest_ambiguous');
      return total === 1;
    });
    await go(page, '/dead-letters');
    await page.getByRole('link', { name: /^Event #/ }).click();
    const persons = page.getByRole('table', { name: 'Persons whom the event may mean' });
    const row = persons.getByRole('row', { name: /guest 1 of reservation P1/ });
    assert.match(await textOf(row), /Mary Jones/);
    assert.equal(await persons.getByText('John Smith').count(), 0, 'he is certainly not meant');
    const viewer = await desk.signIn({ role: 'viewer' });
    await go(viewer, new URL(page.url()).pathname);
    await viewer.getByRole('row', { name: /guest 1 of reservation P1/ }).waitFor();
    assert.equal(await viewer.getByText('Jones').count(), 0);
    assert.equal(await viewer.getByRole('button', { name: /^Assign/ }).count(), 0);
    await viewer.context().close();
    assert.deepEqual(await barriersAt(page, new URL(page.url()).pathname), []);
    await row.getByRole('button', { name: 'Assign to Mary Jones, guest 1 of reservation P1' }).click();
    await page.getByText('It was replayed').waitFor();
    const { data } = await desk.api<{ data: { guests: object[] } }>('GET', '/integrations/grand/reservations/P1');
    assert.deepEqual(data.guests, [{ ...mary, phone: '+351912000111' }]);
  });

  test('pairs are merged or told apart, and shared addresses are listed', async () => {
    await go(page, '/guests');
    const shared = page.getByRole('table', { name: 'Shared addresses and numbers' });
    assert.match(await textOf(shared.getByRole('row', { name: new RegExp(email) })), /44$/);
    assert.deepEqual(await barriersAt(page, '/guests'), []);
    const ofJohn = page.getByRole('table', { name: 'Two profiles: John Smith' });
    assert.match(await textOf(ofJohn.getByRole('row', { name: /Nationality/ })), /GB/);
    assert.match(await textOf(ofJohn.getByRole('row', { name: /Consent/ })), /not statednot stated/);
    await page.getByRole('button', { name: 'Merge John Smith' }).click();
    await ofJohn.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Not the same: Mary Jones' }).click();
    await page.getByText('Nothing to decide').waitFor();
    await page.reload();
    await page.getByText('Nothing to decide').waitFor();
  });

  test('a guest’s page lists the stays', async () => {
    const { items } = await desk.api<{ items: { id: string; data: { extra?: object } }[] }>('GET', '/guests?q=smith');
    const kept = items.find(({ data }) => data.extra === undefined);
    assert.deepEqual(await barriersAt(page, `/reservations/grand/guests/${kept?.id}`), []);
    const stays = page.getByRole('table', { name: 'Stays of this guest' });
    await stays.getByRole('link', { name: 'P2' }).waitFor();
    await stays.getByRole('link', { name: 'P0' }).click();
    await page.getByRole('heading', { name: 'LIS-P0' }).waitFor();
  });

  test('the browser reported no error', () => assert.deepEqual(desk.complaints, []));
});
