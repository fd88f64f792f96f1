import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { yamlEditor } from './support/editor.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

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

/** The paths of buttons; tests are compiled without the types of the browser. */
const pathsOf = (buttons: unknown[]): string[] =>
  (buttons as { dataset: { path: string } }[]).map(({ dataset }) => dataset.path);

/** The integration engineer builds a mapping and connects a brand in the console alone. */
describe('the integration engineer', { skip }, () => {
  let setup: Setup;
  let page: Page;
  before(async () => {
    setup = await openSetup();
    page = await setup.signIn();
  });
  after(() => setup?.stop());

  test('gets a first connector from an API description', async () => {
    await go(page, '/studio');
    const file = fileURLToPath(new URL('../operations/descriptions/openapi30-fjord.yaml', import.meta.url));
    await page.getByLabel('API description', { exact: true }).setInputFiles(file);
    await page.getByLabel('Operation that lists reservations').first().waitFor();
    const text = await yamlEditor(page, 'Connector as YAML').text();
    assert.match(text, /^connector: new-connector/m);
    assert.match(text, /check_in:/);
  });

  test('gets a suggested mapping from a pasted response', async () => {
    await page.getByRole('link', { name: 'Mapping studio' }).click();
    await page.getByLabel('Sample as JSON').fill(sample);
    await page.getByRole('button', { name: 'Suggest a mapping' }).click();
    await page.getByText(/of 2 records can be stored/).waitFor();
    await page.getByText(/guests\.email 0 of 1/).waitFor();
    assert.match(await yamlEditor(page, 'Connector as YAML').text(), /check_in: arrival/);
  });

  test('sees which statuses only the partner can explain', async () => {
    const rows = [1, 2].map((status) => ({
      ref: `B-${status}`,
      arrival: '2026-05-01',
      departure: '2026-05-02',
      status,
    }));
    await page.getByLabel('Sample as JSON').fill(JSON.stringify({ bookings: rows }));
    await page.getByRole('button', { name: 'Suggest a mapping' }).click();
    await page.getByText('2 statuses without a meaning').waitFor();
  });

  test('sees the canonical records beside the connector, with notes and failures', async () => {
    // A fresh page, so that results of the last mapping cannot be mistaken for this one's.
    await page.goto(`${setup.url}/studio`);
    await page.getByLabel('Sample as JSON').fill(sample);
    await yamlEditor(page, 'Connector as YAML').fill(connector);
    await page.getByText('1 of 2 records can be stored').waitFor();
    assert.match(await textOf(canonical()), /"last_name": "O'Neill"/);
    const cleaned = page.locator('.card', { has: page.getByRole('heading', { name: 'Cleaned or derived' }) });
    assert.match(await textOf(cleaned), /guest 1, last name/);
    await page.getByRole('button', { name: 'Record 2' }).click();
    await page.getByText(/check_out must not be before check_in/).waitFor();
    await page.getByRole('button', { name: 'Record 1' }).click();
  });

  const raw = () => page.getByRole('region', { name: 'Raw record, linked' });
  const canonical = () => page.getByRole('region', { name: 'Canonical record, linked' });
  const lit = (side: Locator) => side.locator('button[data-lit="true"]').evaluateAll(pathsOf);

  test('each value is linked to the place it came from, both ways, by mouse and by keyboard', async () => {
    await canonical().locator('[data-path="check_in"]').hover();
    assert.deepEqual(await lit(raw()), ['arrival']);
    await raw().locator('[data-path="guests[0].family"]').hover();
    assert.deepEqual(await lit(canonical()), ['guests[0].last_name']);
    await raw().locator('[data-path="ref"]').focus();
    await page.keyboard.press('ArrowDown');
    assert.deepEqual(await lit(canonical()), ['check_in']);
    await canonical().locator('[data-path="check_out"]').click();
    await page.mouse.move(0, 0);
    assert.deepEqual(await lit(raw()), ['departure']);
  });

  test('a field that is not mapped is marked, and mapped with two clicks', async () => {
    await page.getByLabel('Sample as JSON').fill(sample.replace('"ref":"A-1"', '"ref":"A-1","agent":"BDC"'));
    await page.getByText('1 field not mapped').waitFor();
    const agent = raw().locator('[data-path="agent"]');
    assert.equal(await agent.getAttribute('data-loose'), 'true');
    await agent.click();
    await page.getByRole('combobox', { name: 'Map agent to' }).fill('channel');
    await page.getByRole('option', { name: 'channel' }).click();
    await page.getByRole('button', { name: 'Map', exact: true }).click();
    await page.getByText('every field is mapped').waitFor();
    assert.match(await yamlEditor(page, 'Connector as YAML').text(), /channel: agent/);
    await canonical().getByText('BDC').waitFor();
  });

  test('a property that is not connected yet has its time zone and country', async () => {
    const phone = sample.replace('"given":"ANA"', '"given":"ANA","phone":"912 345 678"');
    await page.getByLabel('Sample as JSON').fill(phone);
    await page.getByLabel('Country').fill('PT');
    await canonical().getByText('+351912345678').waitFor();
  });

  test('a mistake is marked in its line, and one click jumps there', async () => {
    const editor = yamlEditor(page, 'Connector as YAML');
    await editor.fill(connector.replace('root_path', 'root_pth'));
    await page.locator('.cm-lint-marker-error').waitFor();
    await page.getByRole('button', { name: /^Line 5/ }).click();
    await until('the caret is in line 5', async () => (await editor.caretLine()) === 5);
    await page.getByRole('button', { name: /^Apply/, disabled: true }).waitFor();
  });

  test('completions come from the schema and are accepted with Enter', async () => {
    const editor = yamlEditor(page, 'Connector as YAML');
    await editor.fill('connector: harbour\npull:\n  ');
    await editor.content.press('ControlOrMeta+End');
    await editor.content.press('p');
    await page.getByRole('listbox').getByRole('option', { name: 'pagination' }).waitFor();
    // For its first 75 ms the list ignores Enter, so that nobody accepts a completion that they have not seen.
    await page.waitForTimeout(100);
    await editor.content.press('Enter');
    assert.match(await editor.text(), /\n {2}pagination$/);
  });

  test('the connector is applied and appears under Documents', async () => {
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('harbour');
    await yamlEditor(page, 'Connector as YAML').fill(connector);
    // The page moves when the records of the new text arrive: a click just then would miss the button.
    await page.getByText('of 2 records can be stored').waitFor();
    await page.getByRole('button', { name: 'Apply harbour' }).click();
    await page.getByText('harbour is in force as version 1').waitFor();
    await page.getByRole('link', { name: 'Documents' }).click();
    await page.getByRole('link', { name: 'harbour' }).click();
    assert.equal(await yamlEditor(page, 'connector harbour as YAML').text(), connector);
  });

  test('a mapping that changes a kept sample is applied only with a confirmation that shows the differences', async () => {
    await go(page, '/studio?connector=harbour');
    await page.getByLabel('Sample as JSON').fill(sample);
    await page.getByLabel('Name of the case').fill('two-stays');
    await page.getByRole('button', { name: 'Keep this sample' }).click();
    const row = page.getByRole('row', { name: /two-stays/ });
    await row.getByText('Passes').waitFor();
    const editor = yamlEditor(page, 'Connector as YAML');
    await editor.fill(connector.replace('first_name: given, ', ''));
    await row.getByText('1 difference').click();
    await row.getByText('record 1, guest 1, first name').waitFor();
    await page.getByRole('button', { name: 'Apply harbour (1 case changed) …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('record 1, guest 1, first name').waitFor();
    await dialog.getByRole('button', { name: 'Apply and accept the new records' }).click();
    await page.getByText('harbour is in force as version 2').waitFor();
    await row.getByText('Passes').waitFor();
    await editor.fill(connector);
    await row.getByText('1 difference').waitFor();
    await row.getByRole('button', { name: 'Accept the new records of two-stays' }).click();
    await row.getByText('Passes').waitFor();
    await page.getByRole('button', { name: 'Apply harbour', exact: true }).click();
    await page.getByText('harbour is in force as version 3').waitFor();
    await row.getByRole('button', { name: 'Forget two-stays' }).click();
    await page.getByText('No case yet').waitFor();
  });

  test('the effect of a change on stored payloads is shown before it is applied', async () => {
    await setup.push('grand', { event: 'reservation.created', event_id: 'p1', data: booking('P1', { agent: 'BDC' }) });
    await until('it is stored', async () => setup.crm.taken.includes('P1'));
    await go(page, '/studio?connector=hotel');
    const editor = yamlEditor(page, 'Connector as YAML');
    await until('the text is there', async () => (await editor.text()).includes('root_path'));
    await editor.fill(`${await editor.text()}\nmap: { channel: agent }\n`);
    await page.getByRole('button', { name: 'Try on the last 100 payloads' }).click();
    await page.getByText(/^1 reservation of \d would change$/).waitFor();
    await page.getByText('P1: 1 changed field').waitFor();
  });

  test('a dead letter of the mapping is corrected with its payload, and replayed from there', async () => {
    for (const id of ['D1', 'D2']) {
      const data = booking(id, { status: 'Wartet' });
      await setup.push('grand', { event: 'reservation.created', event_id: `dead-${id}`, data });
    }
    const open = async () => (await setup.api<{ total: number }>('GET', '/dead-letters?integration=grand')).total;
    await until('they are dead letters', async () => (await open()) === 2);
    await go(page, '/dead-letters?integration=grand');
    await page.getByRole('link', { name: 'Event D1' }).click();
    await page.getByRole('link', { name: 'Fix the mapping in the studio, with this payload as the sample' }).click();
    const notice = page.locator('.notice', { hasText: 'The sample is the payload of' });
    assert.match(await page.getByLabel('Sample as JSON').inputValue(), /Wartet/);
    const editor = yamlEditor(page, 'Connector as YAML');
    await until('the connector is read', async () => (await editor.text()).includes('bed_and_breakfast'));
    await editor.fill((await editor.text()).replace('values:', 'values:\n  status: { confirmed: [Wartet] }'));
    await notice.getByText('Apply the change, then replay it here.').waitFor();
    assert.ok(await notice.getByRole('button', { name: 'Replay it' }).isDisabled());
    await page.getByRole('button', { name: 'Apply hotel' }).click();
    await notice.getByRole('button', { name: 'Replay it' }).click();
    await notice.getByText(', which is replayed.').waitFor();
    assert.equal(await open(), 1);
    await go(page, '/dead-letters?integration=grand');
  });

  test('a brand is connected, its secret is shown once, and its first event appears live', async () => {
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByRole('radio', { name: /^hotel\b/ }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('porto-bay');
    await page.getByLabel('Brand id').fill('OPO02');
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
    await setup.pushTo(
      { url, secret },
      { brand_id: 'OPO02', event: 'reservation.created', event_id: 'first', data: booking('P1') },
    );
    await page.getByText('The first event has arrived').waitFor();
    await page.getByRole('link', { name: 'See the record' }).click();
    await page.getByRole('heading', { name: 'LIS-P1' }).waitFor();
  });

  test('the browser reported no error', () => {
    // The apply that asks first.
    const errors = setup.complaints.filter((text) => !text.includes('409'));
    assert.deepEqual(errors, []);
  });
});
