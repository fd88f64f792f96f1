import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { booking, type Desk, openDesk, skip, textOf } from './support/desk.ts';
import { yamlEditor } from './support/editor.ts';

const sample = JSON.stringify({
  data: [
    {
      ref: 'A-1',
      arrival: '2031-05-04',
      departure: '2031-05-08',
      state: 'CONF',
      guests: [{ given: 'ANA', family: "O'NEILL" }],
    },
    { ref: 'A-2', arrival: '2031-06-01', departure: '2031-05-08', state: 'CONF', guests: [] },
  ],
});
const connector = `connector: harbour
pull:
  request: { method: GET, path: /list, query: { from: "{window.from}", to: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: data }
map:
  id: ref
  check_in: arrival
  check_out: departure
  status: state
  guests: { from: guests, fields: { first_name: given, last_name: family } }
values:
  status: { confirmed: [CONF] }
`;

/** The integration engineer builds a mapping and connects a brand in the console alone. */
describe('the integration engineer', { skip }, () => {
  let desk: Desk;
  let page: Page;
  before(async () => {
    desk = await openDesk();
    page = await desk.signIn();
  });
  after(() => desk?.stop());

  test('gets a suggested mapping from a pasted response', async () => {
    await page.getByRole('link', { name: 'Mapping studio' }).click();
    await page.getByLabel('Sample as JSON').fill(sample);
    await page.getByRole('button', { name: 'Suggest a mapping' }).click();
    await page.getByText(/of 2 records valid/).waitFor();
    assert.match(await yamlEditor(page, 'Connector as YAML').text(), /check_in: arrival/);
  });

  test('sees the canonical records beside the connector, with notes and failures', async () => {
    // A fresh page, so that results of the last mapping cannot pass for this one's.
    await page.goto(`${desk.url}/studio`);
    await page.getByLabel('Sample as JSON').fill(sample);
    await yamlEditor(page, 'Connector as YAML').fill(connector);
    const becomes = page.locator('.card', { has: page.getByRole('heading', { name: 'Canonical records' }) });
    await becomes.getByText('1 of 2 records valid').waitFor();
    assert.match(await textOf(becomes), /"last_name": "O'Neill"/);
    assert.match(await textOf(becomes), /guests\[0\]\.last_name/);
    await becomes.getByRole('button', { name: 'Record 2' }).click();
    await becomes.getByText(/check_out must not be before check_in/).waitFor();
  });

  test('a mistake is marked in its line, and one click jumps there', async () => {
    const editor = yamlEditor(page, 'Connector as YAML');
    await editor.fill(connector.replace('root_path', 'root_pth'));
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.getByRole('button', { name: /^Line 5/ }).click();
    assert.equal(await editor.caretLine(), 5);
    assert.ok(await page.getByRole('button', { name: /^Apply/ }).isDisabled());
  });

  test('completions come from the schema and are accepted with Enter', async () => {
    const editor = yamlEditor(page, 'Connector as YAML');
    await editor.fill('connector: harbour\npull:\n  ');
    await editor.content.press('ControlOrMeta+End');
    await editor.content.press('p');
    await page.getByRole('listbox').getByRole('option', { name: 'pagination' }).waitFor();
    // For its first 75 ms the list leaves Enter to the text, so that nobody accepts what they have not seen.
    await page.waitForTimeout(100);
    await editor.content.press('Enter');
    assert.match(await editor.text(), /\n {2}pagination$/);
  });

  test('the connector is applied and appears under Documents', async () => {
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('harbour');
    await yamlEditor(page, 'Connector as YAML').fill(connector);
    await page.getByRole('button', { name: 'Apply harbour' }).click();
    await page.getByText('harbour is in force as version 1').waitFor();
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('link', { name: 'harbour' }).click();
    assert.equal(await yamlEditor(page, 'connector harbour as YAML').text(), connector);
  });

  test('a brand is connected, its secret is shown once, and its first event appears live', async () => {
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('porto-bay');
    await page.getByLabel('Brand id').fill('OPO02');
    await page.getByRole('combobox', { name: 'Connector' }).click();
    await page.getByRole('option', { name: 'hotel' }).click();
    await page
      .getByRole('combobox', { name: 'Time zone' })
      .or(page.getByLabel('Time zone'))
      .first()
      .fill('Europe/Lisbon');
    await page.getByLabel('Country').fill('PT');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('switch', { name: 'Pull its API on a schedule' }).uncheck();
    await page.getByRole('checkbox', { name: 'lake' }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    assert.match(await yamlEditor(page, 'Integration as YAML').text(), /brand_id: "OPO02"/);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Secret, shown only once').waitFor();
    const url = await textOf(page.getByRole('region', { name: 'webhook address' }));
    const secret = await textOf(page.getByRole('region', { name: 'secret' }));
    assert.match(secret, /^whsec_/);
    await page.getByText('Listening').waitFor();
    await desk.pushTo(
      { url, secret },
      { brand_id: 'OPO02', event: 'reservation.created', event_id: 'first', data: booking('P1') },
    );
    await page.getByText('The first event has arrived').waitFor();
    await page.getByRole('link', { name: 'See the record' }).click();
    await page.getByRole('heading', { name: 'LIS-P1' }).waitFor();
  });

  test('the browser reported no error', () => assert.deepEqual(desk.complaints, []));
});
