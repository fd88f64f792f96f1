import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/** A job first shows what it will touch, then its progress, and is found again after a reload. */
describe('jobs', { skip }, () => {
  let setup: Setup;
  let page: Page;
  let admin: Page;
  const ids = ['R1', 'R2', 'R3'];
  before(async () => {
    setup = await openSetup();
    // The pulled one is accepted.
    setup.crm.refuse = (id) => ids.includes(id);
    for (const id of ids) await setup.push('grand', { event: 'reservation.created', event_id: id, data: booking(id) });
    await until('three dead letters', async () => {
      const { total } = await setup.api<{ total: number }>('GET', '/dead-letters');
      return total === ids.length;
    });
    await until('the pulled reservation is delivered', async () => setup.crm.taken.includes('R500'));
    setup.crm.refuse = () => false;
    page = await setup.signIn({ role: 'operator' });
  });
  after(() => setup?.stop());

  test('replaying all dead letters shows their number and samples, then the result, also after a reload', async () => {
    await page.getByRole('link', { name: 'Dead letters' }).first().click();
    await page.getByRole('button', { name: 'Replay all 3 …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It would be sent again.').first().waitFor();
    assert.match(await textOf(dialog), /deliver\.\w+3/);
    await dialog.getByRole('button', { name: 'Replay 3 dead letters' }).click();
    await page.getByText('3 of 3 dead letters').waitFor();
    await page.getByText('Done', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText('3 of 3 dead letters').waitFor();
    await until('all were delivered', async () => ids.every((id) => setup.crm.taken.includes(id)));
    await page.getByRole('link', { name: 'Jobs' }).first().click();
    const row = page.getByRole('row', { name: /Replay dead letters/ });
    assert.match(await textOf(row), /Done.*3 of 3.*Ada, operator/);
  });

  test('a brand is resent to a destination', async () => {
    await go(page, '/integrations/grand');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Resend everything to crm …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('link', { name: 'R1' }).waitFor();
    await dialog.getByRole('button', { name: 'Resend 4 records' }).click();
    await page.getByText('4 of 4 records').waitFor();
    await until('all came twice', async () =>
      ids.every((id) => setup.crm.taken.filter((one) => one === id).length === 2),
    );
  });

  test('a change of the mapping says what it concerns, and reprocessing shows the differences first', async () => {
    admin = await setup.signIn();
    const { source } = await setup.api<{ source: string }>('GET', '/documents/integration/grand');
    await setup.api('PUT', '/documents/integration/grand', {
      text: `${source}transforms:\n  - set: { channel: '"direct"' }\n`,
    });
    await go(admin, '/integrations/grand?job=reprocess');
    const dialog = admin.getByRole('dialog');
    await dialog.getByText('would change').waitFor();
    await dialog.getByText('1 changed field').first().click();
    await dialog.getByText('direct').first().waitFor();
    await dialog.getByRole('button', { name: 'Reprocess 4 reservations' }).click();
    await admin.getByText('4 of 4 reservations').waitFor();
    assert.match(await textOf(admin.getByRole('main')), /Changed4/);
  });

  test('one reservation is resent from its timeline, and fetching it says why the partner cannot be asked', async () => {
    await go(page, '/reservations/grand/reservations/R2');
    const before = setup.crm.taken.length;
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('menuitem', { name: 'To crm' }).click();
    await page.getByText('Queued for crm.').waitFor();
    await until('it came again', async () => setup.crm.taken.length > before);
    assert.equal(setup.crm.taken.at(-1), 'R2');
    await page.getByRole('button', { name: 'Fetch from the partner' }).click();
    await page.getByText(/pull\.single/).waitFor();
  });

  test('a running job shows its progress, is found again after a reload, and stops', async () => {
    const holder = await setup.service.runtime.pool.connect();
    await holder.query('begin');
    try {
      // The first step of the job waits here.
      await holder.query('lock table outbox in exclusive mode');
      await go(page, '/integrations/grand');
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Resend everything to crm …' }).click();
      await page.getByRole('button', { name: 'Resend 4 records' }).click();
      await page.getByText('0 of 4 records').waitFor();
      await page.getByText('Running', { exact: true }).waitFor();
      await page.goto(`${setup.url}/jobs`);
      const row = page.getByRole('row', { name: /Resend records.*Running/ });
      assert.match(await textOf(row), /0 of 4.*Ada, operator/);
      await row.getByRole('link').first().click();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('Stopped by Ada, operator').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Stop' }).count(), 0);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    const { items } = await setup.api<{ items: { state: string }[] }>('GET', '/jobs');
    assert.equal(items[0]?.state, 'stopped');
  });

  test('everything held on a guest is exported as a file', async () => {
    await go(admin, '/privacy');
    await admin.getByLabel('E-mail address').fill('ines.duarte@letters.example');
    const file = admin.waitForEvent('download');
    await admin.getByRole('button', { name: 'Export' }).click();
    const held = JSON.parse(await readFile(await (await file).path(), 'utf8'));
    assert.deepEqual(held.records.map((one: { id: string }) => one.id).sort(), ids);
  });

  test('an erasure says what it touches, shows how far it is, is found after a reload and stops', async () => {
    const who = 'ines.duarte@letters.example';
    const holder = await setup.service.runtime.pool.connect();
    await holder.query('begin');
    try {
      await go(admin, '/privacy');
      await admin.getByLabel('E-mail address').fill(who);
      await admin.getByRole('button', { name: 'Preview the erasure' }).click();
      const dialog = admin.getByRole('dialog');
      await dialog.getByText('what is erased by then stays erased').waitFor();
      assert.match(await textOf(dialog), /Of ines.*: 3 records, .*reservation R1 grand.*To be notified: .*crm/);
      // The search through the tables waits here.
      await holder.query('lock table staged_rows');
      await dialog.getByLabel(`Type ${who} to confirm`).fill(who);
      await dialog.getByRole('button', { name: 'Erase' }).click();
      await admin.getByText(/Searching staged rows, place \d+ of \d+/).waitFor();
      await admin.reload();
      await admin.getByText(/Erased: .*3 records.* Searching staged rows/).waitFor();
      await admin.getByRole('button', { name: 'Stop' }).click();
      const row = admin.getByRole('row', { name: /era_/ });
      await row.getByText('Stopped').waitFor();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    // A stopped erasure is not a proof.
    await admin.getByLabel('E-mail address').fill(who);
    await admin.getByRole('button', { name: 'Find a receipt' }).click();
    await admin.getByText(/^Stopped by .*, receipt era_/).waitFor();
  });

  test('the page of a brand reports what push missed and what is no longer listed', async () => {
    await go(page, '/integrations/grand?tab=push');
    await page.getByRole('heading', { name: 'What push missed' }).waitFor();
    await page.getByRole('tab', { name: 'Pull' }).click();
    await page.getByText('Every stored reservation is still listed').waitFor();
  });

  test('the browser reported no error', () => {
    const errors = setup.complaints.filter((text) => !text.includes('409'));
    assert.deepEqual(errors, []);
  });
});
