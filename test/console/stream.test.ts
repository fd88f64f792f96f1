import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { go } from './support/go.ts';
import { openSetup, type Setup, skip, textOf } from './support/setup.ts';

const connector = `connector: streamed
pull: { single: { path: "/stays/{id}" } }
stream:
  path: /live
  subscription: "subscription($after: String) { changed(after: $after) { seq } }"
  variables: { after: "{offset}" }
  event: changed
  offset: seq
  pause: 1s
push: { envelope: { brand: hotel, data: $item }, thin: { id: id } }
`;
const brand = `integration: fjord
connector: streamed
brand_id: OSL1
timezone: Europe/Oslo
pull: { base_url: "{partner}", auth: { type: none } }
stream: {}
`;

describe('the stream of a brand', { skip }, () => {
  let setup: Setup;
  let page: Page;
  before(async () => {
    setup = await openSetup({ 'connectors/streamed.yaml': connector, 'integrations/fjord.yaml': brand });
    page = await setup.signIn({ role: 'viewer' });
  });
  after(() => setup?.stop());

  test('its page says whether the stream is connected, and what is wrong', async () => {
    await go(page, `${setup.url}/integrations/fjord?tab=push`);
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Stream', exact: true }) });
    await card.getByText(/The stream cannot be read\. The /).waitFor();
    assert.match(await textOf(card), /Connected since\s*not connected.*Last message\s*none/);
    await go(page, `${setup.url}/integrations`);
    await page.getByRole('row', { name: /fjord/ }).getByText('not yet').first().waitFor();
  });
});
