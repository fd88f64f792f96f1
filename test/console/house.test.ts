import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { applyWorkspace } from '../../src/runtime/in-force.ts';
import { readSoundDocuments } from '../../src/runtime/workspace-documents.ts';
import { until } from '../support/process.ts';
import { yamlEditor } from './support/editor.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/** The data protection officer and the administrator. */
describe('privacy, tokens and audit', { skip }, () => {
  let setup: Setup;
  let page: Page;
  before(async () => {
    setup = await openSetup();
    await setup.push('grand', { event: 'reservation.created', event_id: 'e1', data: booking('R1') });
    await until('the reservation is delivered', async () => setup.crm.taken.includes('R1'));
    page = await setup.signIn();
  });
  after(() => setup?.stop());

  test('a guest is erased after a confirmation, and a receipt says what was removed', async () => {
    await page.getByRole('link', { name: 'Privacy' }).click();
    await page.getByLabel('E-mail address').fill('ines.duarte@letters.example');
    const answer: (() => Promise<void>)[] = [];
    await page.route('**/privacy/erasures/preview', (route) => void answer.push(() => route.continue()));
    await page.getByRole('button', { name: 'Preview the erasure' }).click();
    await page.getByLabel(/to confirm/).fill('ines.duarte@letters.example');
    assert.ok(await page.getByRole('button', { name: 'Erase', exact: true }).isDisabled(), 'nothing is erased unseen');
    await until('the preview is requested', async () => answer.length > 0);
    for (const one of answer) await one();
    await page.unrouteAll();
    await page.getByLabel(/to confirm/).fill('');
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/: 1 record, 1 version/).waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Erase' }).isDisabled());
    await dialog.getByLabel(/to confirm/).fill('ines.duarte@letters.example');
    await dialog.getByRole('button', { name: 'Erase' }).click();
    await page
      .getByText(/^Erased.*, receipt/)
      .first()
      .waitFor();
    const notice = page.locator('.notice', { hasText: 'receipt era_' });
    await notice.getByText(/^Erased, receipt/).waitFor();
    assert.match(await textOf(notice), / Notified: .*crm/, 'once it is so, also where the page was opened before');
    const found = await setup.api<{ items: unknown[] }>('GET', '/reservations?q=ines.duarte@letters.example');
    assert.deepEqual(found.items, []);
    await page.getByRole('button', { name: 'Find a receipt' }).click();
    await page
      .getByText(/^Erased.*, receipt era_/)
      .first()
      .waitFor();
    await page.getByLabel('E-mail address').fill('somebody.else@letters.example');
    await page.getByRole('button', { name: 'Find a receipt' }).click();
    await page.getByText('No erasure was requested for this address').waitFor();
    assert.doesNotMatch(JSON.stringify(await setup.api('GET', '/integrations/grand/reservations/R1')), /duarte/i);
  });

  test('a token is shown once, works, and stops working when revoked', async () => {
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('What it is for').fill('night report');
    await page.getByRole('button', { name: 'Create' }).click();
    const token = await textOf(page.getByRole('region', { name: 'token' }));
    const ask = async () =>
      (await fetch(`${setup.url}/api/v1/overview`, { headers: { authorization: `Bearer ${token}` } })).status;
    assert.equal(await ask(), 200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Revoke night report' }).click();
    await page.getByRole('dialog', { name: 'Revoke night report?' }).getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await ask(), 200, 'one click is a question');
    await page.getByRole('button', { name: 'Revoke night report' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /night report/ }).waitFor({ state: 'detached' });
    assert.equal(await ask(), 401);
  });

  test('a colleague is invited with a link that only reads, and works once', async () => {
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('Name of the person').fill('Bea, front desk');
    await page.getByRole('button', { name: 'Create' }).click();
    const link = await textOf(page.getByRole('region', { name: 'link' }));
    await page.getByRole('button', { name: 'Done' }).click();
    const row = page.getByRole('row', { name: /Bea, front desk/ });
    assert.match(await textOf(row), /Sign-in link, not used yet.*Viewer.*all/);
    const colleague = await setup.stranger();
    await colleague.goto(link);
    await colleague.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await colleague.getByRole('link', { name: 'Tokens' }).count(), 0);
    await page.reload();
    await page.getByRole('row', { name: /Bea, front desk.*Signed in/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /night report/ }).count(), 0, 'programs are elsewhere');
    await colleague.context().close();
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
    const { source } = await setup.api<{ source: string }>('GET', '/documents/integration/grand');
    const text = source.replace('every: 60m', 'every: 30m');
    await setup.api('PUT', '/documents/integration/grand', { text });
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

  test('thousands of tokens, receipts and secrets are all reachable, and few are drawn at once', async () => {
    const { pool } = setup.service.runtime;
    await pool.query(
      `insert into tokens (token_id, kind, hash, name, role, created_by, created_at)
       select 'tok_' || n, 'api', sha256(n::text::bytea), 'many ' || n, 'viewer', 'test', date_trunc('hour', now()) - n / 3 * interval '1 s'
         from generate_series(1, 1200) n`,
    );
    await pool.query(
      `insert into erasures (erasure_id, requested_by, subject, requested_at, completed_at, confirmed_at, receipt)
       select 'era_' || n, 'test', 's', date_trunc('hour', now()) - n / 3 * interval '1 s', now(), now(), '{"removed": {}, "notified": []}'
         from generate_series(1, 600) n`,
    );
    await pool.query(`insert into secrets (name, sealed) select 'secret-' || n, 'x' from generate_series(1, 1000) n`);
    const all = async (at: string, key: string) => {
      const ids = new Set<string>();
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: { items: Record<string, string>[]; next_cursor: string | null } = await setup.api(
          'GET',
          `${at}?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        for (const item of page.items) ids.add(item[key] ?? '');
        cursor = page.next_cursor;
      }
      return ids;
    };
    const tokens = await all('/tokens', 'token_id');
    const receipts = await all('/privacy/erasures', 'erasure_id');
    for (let n = 1; n <= 1200; n++) assert.ok(tokens.has(`tok_${n}`), `token ${n}`);
    for (let n = 1; n <= 600; n++) assert.ok(receipts.has(`era_${n}`), `receipt ${n}`);
    for (const [at, label] of [
      ['/tokens', 'Tokens'],
      ['/privacy', 'Receipts'],
      ['/secrets', 'Secrets'],
    ] as const) {
      await go(page, at);
      const rows = page.getByRole('table', { name: label }).locator('tbody tr');
      await rows.first().waitFor();
      const before = await rows.count();
      assert.ok(before <= 100, `${label}: ${before} rows`);
      await page.getByRole('button', { name: 'Show more' }).click();
      await until(`more ${label}`, async () => (await rows.count()) > before);
    }
    await page.getByLabel('Find by name').fill('SECRET-777');
    const rows = page.getByRole('table', { name: 'Secrets' }).locator('tbody tr');
    await until('the secret is found', async () => (await rows.count()) === 1);
  });

  test('of a reservation with thousands of receipts the newest are drawn, and older ones on request', async () => {
    await setup.service.runtime.pool.query(
      `insert into history (integration, type, id, at, effective_at, seq, cause, cause_id, outcome, reason, raw)
       select 'grand', 'reservation', 'R1', now() + n * interval '1 ms', now(), n, 'event', n::text, 'unchanged', 'Receipt ' || n, '{"a": 1}'
         from generate_series(1, 5000) n`,
    );
    await go(page, '/reservations/grand/reservations/R1');
    const lines = page.locator('.ledger > li');
    await page.getByText('Receipt 5000').waitFor();
    assert.equal(await lines.count(), 200);
    await page.getByRole('button', { name: 'Show older entries' }).click();
    await until('two parts', async () => (await lines.count()) === 400);
    await page.getByText('Receipt 4601', { exact: true }).waitFor();
  });

  test('with hundreds of brands, few are drawn at once, and each is found and can be chosen', async () => {
    const { runtime } = setup.service;
    for (let n = 100; n < 320; n++) {
      const document = `integration: brand-${n}\nconnector: hotel\nbrand_id: B${n}\ntimezone: UTC\npush: { enabled: true }\ndeliver: [crm]\n`;
      await writeFile(path.join(runtime.workspaceDir, `integrations/brand-${n}.yaml`), document);
    }
    await applyWorkspace(runtime, () => readSoundDocuments(runtime.workspaceDir), 'test');
    await runtime.refresh();
    const first = await setup.api<{ items: unknown[]; next_cursor: string | null }>('GET', '/integrations');
    assert.deepEqual([first.items.length, first.next_cursor !== null], [200, true]);
    await go(page, '/integrations');
    const rows = page.getByRole('table', { name: 'Integrations' }).locator('tbody tr');
    await until('a page of brands', async () => (await rows.count()) === 100);
    await page.getByRole('button', { name: 'Show more' }).click();
    await until('two pages of brands', async () => (await rows.count()) === 200);
    await page.getByLabel('Find by name or brand id').fill('b317');
    await until('the brand is found', async () => (await rows.count()) === 1);
    await go(page, '/dead-letters');
    await page.getByRole('combobox', { name: 'Brand' }).fill('brand-318');
    await page.getByRole('option', { name: 'brand-318' }).click();
    await page.waitForURL(/integration=brand-318/);
  });

  test('the browser reported no error', () => assert.deepEqual(setup.complaints, []));
});
