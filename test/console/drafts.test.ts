import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { yamlEditor } from './support/editor.ts';
import { go } from './support/go.ts';
import { openSetup, openUserMenu, type Setup, skip, textOf } from './support/setup.ts';

/** Work that is not applied yet is not lost, and what was applied can be undone. */
describe('drafts and undo', { skip }, () => {
  let setup: Setup;
  let page: Page;
  let source: string;
  const at = '/documents/integration/grand';
  const editor = () => yamlEditor(page, 'integration grand as YAML');
  const inForce = async () => (await setup.api<{ source: string }>('GET', '/documents/integration/grand')).source;
  before(async () => {
    setup = await openSetup();
    source = await inForce();
    page = await setup.signIn();
  });
  after(() => setup?.stop());

  test('a draft of a document survives navigation, a reload and signing out', async () => {
    const edited = source.replace('every: 60m', 'every: 45m');
    await go(page, at);
    await editor().fill(edited);
    await page.getByText('Draft, not applied').waitFor();
    await page.getByText('It is kept in this browser.').waitFor();
    await page.getByText(/^Applying this concerns 1 brand with \d+ reservations? and \d+ guests?$/).waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await go(page, at);
    assert.equal(await editor().text(), edited);
    await page.reload();
    assert.equal(await editor().text(), edited);
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    await page.goto(await setup.link());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await go(page, at);
    assert.equal(await editor().text(), edited);
    assert.equal(await inForce(), source);
  });

  test('a draft with a typed credential never reaches the storage that outlives the tab', async () => {
    const stored = async () => String(await page.evaluate('JSON.stringify({ ...localStorage })'));
    assert.match(await stored(), /every: 45m/, 'a draft without a credential is kept');
    const typed = source.replace('{ type: none }', '{ type: bearer, token: swordfish-1234 }');
    assert.notEqual(typed, source);
    await editor().fill(typed);
    await page.getByText('It is kept in this tab only').waitFor();
    assert.doesNotMatch(await stored(), /swordfish/);
    await page.getByText(/^Applying this concerns 1 brand/).waitFor();
    await page.reload();
    assert.equal(await editor().text(), typed);
    await editor().fill(source.replace('every: 60m', 'every: 45m'));
    await page.getByText('It is kept in this browser.').waitFor();
    assert.doesNotMatch(
      String(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')),
      /swordfish/,
    );
  });

  test('closing the tab with a draft asks first', async () => {
    const asked = page.waitForEvent('dialog');
    await editor().content.click();
    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    assert.equal(dialog.type(), 'beforeunload');
    await dialog.dismiss();
  });

  test('applying ends the draft, shows what changed, and can be undone', async () => {
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const changed = page.getByRole('region', { name: 'What this version changed' });
    assert.match(await textOf(changed.locator('[data-kind="new"]')), /every: 45m/);
    await page.getByText('Draft, not applied').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await until('the old text is in force again', async () => (await inForce()) === source);
    await page.getByText('version 3, 3 versions kept').waitFor();
    assert.equal(await editor().text(), source);
  });

  test('a draft can be discarded', async () => {
    await editor().fill('integration: grand\n');
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await until('the text is the one in force', async () => (await editor().text()) === source);
  });

  test('an apply over a version that somebody else applied meanwhile asks first, and shows what it would undo', async () => {
    await go(page, at);
    await editor().fill(`# mine\n${source}`);
    await setup.api('PUT', at, { text: source.replace('every: 60m', 'every: 30m') });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const undone = page.getByRole('region', { name: 'What your text would change' });
    assert.match(await textOf(undone.locator('[data-kind="gone"]').last()), /every: 30m/);
    assert.match(await inForce(), /every: 30m/);
    await page.getByRole('button', { name: 'Replace version 4' }).click();
    await until('the confirmed text is in force', async () => (await inForce()) === `# mine\n${source}`);
    await setup.api('PUT', at, { text: source });
  });

  test('an apply that breaks another document names its line, and the link jumps there', async () => {
    await go(page, '/documents/connector/hotel');
    const hotel = yamlEditor(page, 'connector hotel as YAML');
    await hotel.fill('connector: hotel\nshape: { root_path: reservations }\n');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const link = page.getByRole('link', { name: /^integrations\/grand\.yaml, line \d+$/ }).first();
    const line = Number(/\d+$/.exec(await textOf(link))?.[0]);
    await link.click();
    await editor().content.waitFor();
    await until('the caret is there', async () => (await editor().caretLine()) === line);
    await go(page, '/documents/connector/hotel');
    await page.getByRole('button', { name: 'Discard the draft' }).click();
  });

  test('a mapping in the studio and the form of a new brand survive a reload; secrets are not kept', async () => {
    await go(page, '/studio');
    const connector = yamlEditor(page, 'Connector as YAML');
    await page.getByLabel('Sample as JSON').fill('{"data": []}');
    await connector.fill('connector: harbour\n');
    await page.reload();
    await until('the mapping is back', async () => (await connector.text()).includes('connector: harbour'));
    assert.equal(await page.getByLabel('Sample as JSON').inputValue(), '{"data": []}');

    await go(page, '/onboard');
    await page.getByRole('radio', { name: /^hotel\b/ }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('porto-bay');
    await page.getByLabel('Brand id').fill('OPO02');
    await page.getByLabel('Time zone').first().fill('Europe/Lisbon');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByLabel('Base URL').fill('https://pms.example');
    await page.getByLabel('Token').fill('swordfish');
    await page.reload();
    assert.equal(await page.getByLabel('Base URL').inputValue(), 'https://pms.example');
    assert.equal(await page.getByLabel('Token').inputValue(), '');
    assert.doesNotMatch(
      String(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')),
      /swordfish/,
    );
  });

  test('the browser reported no error', () => {
    const errors = setup.complaints.filter((text) => !/401|409|422/.test(text));
    assert.deepEqual(errors, []);
  });
});
