import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { go } from './support/go.ts';
import { openSetup, type Setup, skip } from './support/setup.ts';

const chain = `group: chain
defaults: { connector: listed, timezone: Europe/Oslo, pull: { base_url: "{partner}", auth: { type: none } } }
brands:
  - { integration: fjord, brand_id: F1 }
  - { integration: skerry, brand_id: S1 }
`;
const connector = `connector: listed
pull: { request: { path: "/stays/{brand_id}" }, window: none }
`;

describe('brands of a group', { skip }, () => {
  let setup: Setup;
  let page: Page;
  before(async () => {
    setup = await openSetup({ 'connectors/listed.yaml': connector, 'integrations/chain.yaml': chain });
    page = await setup.signIn({ role: 'viewer' });
  });
  after(() => setup?.stop());

  test('are one line that opens, and are found by their names', async () => {
    await go(page, `${setup.url}/integrations`);
    const brands = page.getByRole('table', { name: 'Integrations' });
    const opens = page.getByRole('button', { name: 'chain: 2 brands' });
    await opens.waitFor();
    assert.equal(await brands.getByText('fjord', { exact: true }).count(), 0);
    await opens.click();
    await brands.getByText('fjord', { exact: true }).waitFor();
    await brands.getByText('skerry', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'All brands' }).click();
    await opens.waitFor();
    await page.getByLabel('Find by name or brand id').fill('skerry');
    await brands.getByText('skerry', { exact: true }).waitFor();
    assert.deepEqual(setup.complaints, []);
  });
});
