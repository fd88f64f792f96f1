import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { booking, type Desk, openDesk, skip, textOf } from './support/desk.ts';

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

/** The integration engineer: a mapping made and a brand connected without leaving the page. */
describe('the integration engineer', { skip }, () => {
  let desk: Desk;
  let page: Page;
  before(async () => {
    desk = await openDesk();
    page = await desk.signIn();
  });
  after(() => desk?.stop());

  test('gets a first mapping from a pasted response', async () => {
    await page.getByRole('link', { name: 'Mapping studio' }).click();
    await page.getByLabel('Sample, as JSON').fill(sample);
    await page.getByRole('button', { name: 'Suggest a mapping' }).click();
    await page.getByText(/of 2 records pass/).waitFor();
    assert.match(await page.getByLabel('Connector, as YAML').inputValue(), /check_in: arrival/);
  });

  test('sees the canonical record beside the connector, with notes, and what would fail', async () => {
    // Anew: what the last mapping gave must not pass for this one's.
    await page.goto(`${desk.url}/studio`);
    await page.getByLabel('Sample, as JSON').fill(sample);
    await page.getByLabel('Connector, as YAML').fill(connector);
    const becomes = page.locator('.card', { has: page.getByRole('heading', { name: 'What it becomes' }) });
    await becomes.getByText('1 of 2 records pass').waitFor();
    assert.match(await textOf(becomes), /"last_name": "O'Neill"/);
    assert.match(await textOf(becomes), /guests\[0\]\.last_name/);
    await becomes.getByRole('button', { name: 'Record 2' }).click();
    await becomes.getByText(/check_out must not be before check_in/).waitFor();
  });

  test('a mistake is marked in its line, and one click leads there', async () => {
    const editor = page.getByLabel('Connector, as YAML');
    await editor.fill(connector.replace('root_path', 'root_pth'));
    await page.locator('.gutter [data-wrong="true"]', { hasText: '5' }).waitFor();
    await page.getByRole('button', { name: /^Line 5/ }).click();
    const line = await editor.evaluate(
      (area) =>
        (area as unknown as { value: string; selectionStart: number }).value
          .slice(0, (area as unknown as { selectionStart: number }).selectionStart)
          .split('\n').length,
    );
    assert.equal(line, 5);
    assert.ok(await page.getByRole('button', { name: /^Apply/ }).isDisabled());
  });

  test('what may stand at a place is offered, and taken with Enter', async () => {
    const editor = page.getByLabel('Connector, as YAML');
    await editor.fill('connector: harbour\npull:\n  ');
    await editor.press('Control+End');
    await editor.press('p');
    await page.locator('.offers').getByText('pagination').waitFor();
    await editor.press('Enter');
    assert.match(await editor.inputValue(), /\n {2}pagination$/);
  });

  test('the connector is applied, and is a document like any other', async () => {
    await page.getByLabel('Its name').fill('harbour');
    await page.getByLabel('Connector, as YAML').fill(connector);
    await page.getByRole('button', { name: 'Apply harbour' }).click();
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('link', { name: 'harbour' }).click();
    assert.equal(await page.getByLabel('connector harbour, as YAML').inputValue(), connector);
  });

  test('a brand is connected, its secret shown once, and its first event seen live', async () => {
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByLabel('Name here').fill('porto-bay');
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
    assert.match(await page.getByLabel('Integration, as YAML').inputValue(), /brand_id: "OPO02"/);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Secret, shown only now').waitFor();
    const url = await textOf(page.getByRole('region', { name: 'webhook address' }));
    const secret = await textOf(page.getByRole('region', { name: 'secret' }));
    assert.match(secret, /^whsec_/);
    await page.getByText('Listening').waitFor();
    await desk.pushTo(
      { url, secret },
      { brand_id: 'OPO02', event: 'reservation.created', event_id: 'first', data: booking('P1') },
    );
    await page.getByText('The first event has arrived').waitFor();
    await page.getByRole('link', { name: 'See what became of it' }).click();
    await page.getByRole('heading', { name: 'LIS-P1' }).waitFor();
  });

  test('the browser had nothing to complain about', () => assert.deepEqual(desk.complaints, []));
});
