import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { barriersAt } from './support/look.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/** The operator: who is who? */
describe('the guests of a brand', { skip }, () => {
  let setup: Setup;
  let page: Page;
  const email = 'desk@agency.example';
  const john = { first_name: 'John', last_name: 'Smith', email };
  const mary = { first_name: 'Mary', last_name: 'Jones', email };
  before(async () => {
    const lake = 'destination: lake\ntype: files\npath: out\nreceives: [reservation, guest]\n';
    setup = await openSetup({ 'destinations/lake.yaml': lake });
    const people = [john, mary, { ...john, nationality: 'GB' }, { ...mary, nationality: 'IE' }];
    for (const [n, guest] of people.entries()) {
      const data = booking(`P${n}`, { guests: [guest] });
      await setup.push('grand', { event: 'reservation.created', event_id: `p${n}`, data });
      await until('the guest has a profile', async () => {
        const { items } = await setup.api<{ items: unknown[] }>('GET', '/guests?q=desk%40agency.example');
        return items.length === n + 1;
      });
    }
    await setup.push('grand', { event: 'guest.updated', event_id: 'u1', data: { ...mary, phone: '+351912000111' } });
    page = await setup.signIn({ role: 'operator' });
  });
  after(() => setup?.stop());

  test('an ambiguous event is assigned to one of the persons whom it may mean', async () => {
    await until('the event is a dead letter', async () => {
      const { total } = await setup.api<{ total: number }>('GET', '/dead-letters?code=push.guest_ambiguous');
      return total === 1;
    });
    await go(page, '/dead-letters');
    await page.getByRole('link', { name: /^Event #/ }).click();
    const persons = page.getByRole('table', { name: 'Persons whom the event may mean' });
    const row = persons.getByRole('row', { name: /guest 1 of reservation P1/ });
    assert.match(await textOf(row), /Mary Jones/);
    assert.equal(await persons.getByText('John Smith').count(), 0, 'he is certainly not meant');
    const viewer = await setup.signIn({ role: 'viewer' });
    await go(viewer, new URL(page.url()).pathname);
    await viewer.getByRole('row', { name: /guest 1 of reservation P1/ }).waitFor();
    assert.equal(await viewer.getByText('Jones').count(), 0);
    assert.equal(await viewer.getByRole('button', { name: /^Assign/ }).count(), 0);
    await viewer.context().close();
    assert.deepEqual(await barriersAt(page, new URL(page.url()).pathname), []);
    await row.getByRole('button', { name: 'Assign to Mary Jones, guest 1 of reservation P1' }).click();
    await page.getByText('It was replayed').waitFor();
    const { data } = await setup.api<{ data: { guests: object[] } }>('GET', '/integrations/grand/reservations/P1');
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
    const { items } = await setup.api<{ items: { id: string; data: { extra?: object } }[] }>('GET', '/guests?q=smith');
    const kept = items.find(({ data }) => data.extra === undefined);
    assert.deepEqual(await barriersAt(page, `/reservations/grand/guests/${kept?.id}`), []);
    const stays = page.getByRole('table', { name: 'Stays of this guest' });
    await stays.getByRole('link', { name: 'P2' }).waitFor();
    await stays.getByRole('link', { name: 'P0' }).click();
    await page.getByRole('heading', { name: 'LIS-P0' }).waitFor();
  });

  test('a guest’s page compares consents before a merge, exports, and erases with a receipt to download', async () => {
    const rui = { first_name: 'Rui', last_name: 'Costa' };
    const two = [
      { ...rui, email: 'rui@letters.example', marketing_consent: true },
      { ...rui, email: 'rui.costa@letters.example', marketing_consent: false },
    ];
    for (const [n, guest] of two.entries())
      await setup.push('grand', {
        event: 'reservation.created',
        event_id: `q${n}`,
        data: booking(`Q${n}`, { guests: [guest] }),
      });
    let ids: string[] = [];
    await until('both have a profile', async () => {
      const found = await Promise.all(
        two.map(({ email: q }) => setup.api<{ items: { id: string }[] }>('GET', `/guests?q=${q}`)),
      );
      ids = found.flatMap(({ items }) => items.map(({ id }) => id));
      return ids.length === 2;
    });
    const admin = await setup.signIn();
    const { items } = await setup.api<{ items: { id: string }[] }>('GET', '/guests?q=jones');
    await go(admin, `/reservations/grand/guests/${items[0]?.id}`);
    await admin.getByRole('button', { name: 'Erase the guest …' }).click();
    await admin.getByText('Several profiles of grand have this address or number').waitFor();
    await admin.getByRole('button', { name: 'Cancel' }).click();

    await go(admin, `/reservations/grand/guests/${ids[0]}`);
    await admin.getByRole('button', { name: 'Merge into another profile …' }).click();
    await admin.getByRole('button', { name: /^Choose Rui Costa/ }).click();
    const merged = admin.getByRole('table', { name: 'What the merge gives' });
    assert.match(await textOf(merged.getByRole('row', { name: /^Consent/ })), /yesnowhichever was stated last/);
    await admin.getByRole('button', { name: 'Cancel' }).click();

    const file = async (press: () => Promise<void>) => {
      const [saved] = await Promise.all([admin.waitForEvent('download'), press()]);
      return readFile(await saved.path(), 'utf8');
    };
    const held = await file(() => admin.getByRole('button', { name: 'Export everything held' }).click());
    assert.deepEqual(
      (JSON.parse(held) as { records: { id: string }[] }).records.map(({ id }) => id).sort(),
      ['Q0', ids[0]].sort(),
    );
    assert.match(held, /rui@letters\.example/);
    assert.doesNotMatch(held, /rui\.costa@/, 'nothing of the other one');

    await admin.getByRole('button', { name: 'Erase the guest …' }).click();
    const dialog = admin.getByRole('dialog');
    await dialog.getByText('reservation Q0').waitFor();
    assert.equal(await dialog.getByText('Several profiles').count(), 0);
    await dialog.getByLabel(/to confirm/).fill('rui@letters.example');
    await dialog.getByRole('button', { name: 'Erase' }).click();
    const receipt = JSON.parse(await file(() => admin.getByRole('button', { name: /^Download era_/ }).click()));
    assert.ok(receipt.removed.records >= 2, JSON.stringify(receipt));
    assert.doesNotMatch(JSON.stringify(receipt), /rui|costa/i);
    await admin.getByText('This guest was erased').waitFor();
    await go(admin, '/privacy');
    const again = await file(() => admin.getByRole('button', { name: `Download ${receipt.erasure_id}` }).click());
    assert.equal(JSON.parse(again).erasure_id, receipt.erasure_id);
    const { data } = await setup.api<{ data: object }>('GET', `/integrations/grand/guests/${ids[1]}`);
    assert.match(JSON.stringify(data), /rui\.costa@letters\.example/, 'the other one stays');
  });

  test('the browser reported no error', () => assert.deepEqual(setup.complaints, []));
});
