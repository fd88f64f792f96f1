import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { booking, type Desk, openDesk, skip, textOf } from './support/desk.ts';
import { yamlEditor } from './support/editor.ts';

/** The data protection officer and the administrator. */
describe('privacy, tokens and audit', { skip }, () => {
  let desk: Desk;
  let page: Page;
  before(async () => {
    desk = await openDesk();
    await desk.push('grand', { event: 'reservation.created', event_id: 'e1', data: booking('R1') });
    await until('the reservation is delivered', async () => desk.crm.taken.includes('R1'));
    page = await desk.signIn();
  });
  after(() => desk?.stop());

  test('a guest is erased after a confirmation, and a receipt says what was removed', async () => {
    await page.getByRole('link', { name: 'Privacy' }).click();
    await page.getByLabel('E-mail address').fill('ines.duarte@letters.example');
    await page.getByRole('button', { name: 'Preview the erasure' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/: 1 record, 1 version/).waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Erase' }).isDisabled());
    await dialog.getByLabel(/to confirm/).fill('ines.duarte@letters.example');
    await dialog.getByRole('button', { name: 'Erase' }).click();
    await page.getByText(/Erased, receipt/).waitFor();
    const found = await desk.api<{ items: unknown[] }>('GET', '/reservations?q=ines.duarte@letters.example');
    assert.deepEqual(found.items, []);
    await page.getByRole('button', { name: 'Find a receipt' }).click();
    await page.getByText(/^Erased .*, receipt era_/).waitFor();
    await page.getByLabel('E-mail address').fill('somebody.else@letters.example');
    await page.getByRole('button', { name: 'Find a receipt' }).click();
    await page.getByText('No erasure was requested for this address').waitFor();
    assert.doesNotMatch(JSON.stringify(await desk.api('GET', '/integrations/grand/reservations/R1')), /duarte/i);
  });

  test('a token is shown once, works, and stops working when revoked', async () => {
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Who or what it is for').fill('night report');
    await page.getByRole('button', { name: 'Create' }).click();
    const token = await textOf(page.getByRole('region', { name: 'token' }));
    const ask = async () =>
      (await fetch(`${desk.url}/api/v1/overview`, { headers: { authorization: `Bearer ${token}` } })).status;
    assert.equal(await ask(), 200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke night report' }).click();
    await page.getByRole('row', { name: /night report/ }).waitFor({ state: 'detached' });
    assert.equal(await ask(), 401);
  });

  test('a secret is set, replaced and deleted, and never shown', async () => {
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'New secret' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('crm-key');
    await dialog.getByLabel('Value').fill('swordfish');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const row = page.getByRole('row', { name: /crm-key/ });
    await row.getByText('no document').waitFor();
    await row.getByRole('button', { name: 'Replace crm-key' }).click();
    await dialog.getByLabel('Value').fill('goldfish');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.doesNotMatch(await textOf(page.locator('body')), /swordfish|goldfish/);
    await row.getByRole('button', { name: 'Delete crm-key' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No secret is stored here').waitFor();
  });

  test('an older version of a document is compared with the one in force and restored', async () => {
    const { source } = await desk.api<{ source: string }>('GET', '/documents/integration/grand');
    const text = source.replace('every: 60m', 'every: 30m');
    await desk.api('PUT', '/documents/integration/grand', { text });
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('link', { name: 'grand' }).click();
    await page.getByRole('link', { name: 'Version 1' }).click();
    const changes = page.getByRole('region', { name: 'Changes since this version' });
    assert.match(await textOf(changes.locator('[data-kind="gone"]')), /every: 60m/);
    assert.match(await textOf(changes.locator('[data-kind="new"]')), /every: 30m/);
    await page.getByText('Full text', { exact: true }).click();
    await page.getByRole('region', { name: 'Text of this version' }).getByText('every: 60m').waitFor();
    await page.getByRole('button', { name: 'Apply version 1 again' }).click();
    await page.getByText('version 3, 3 versions kept').waitFor();
    assert.equal(await yamlEditor(page, 'integration grand as YAML').text(), source);
  });

  test('the audit lists both, with the actor', async () => {
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('row', { name: /Ada, admin.*tokens\.revoke/ }).waitFor();
    await page.getByLabel('Action').fill('privacy.erase');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL('**/audit?action=privacy.erase');
    await page.getByRole('row', { name: /tokens\.revoke/ }).waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /privacy\.erase/ }).waitFor();
  });

  test('the browser reported no error', () => assert.deepEqual(desk.complaints, []));
});
