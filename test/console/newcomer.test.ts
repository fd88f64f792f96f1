import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { type Desk, openDesk, skip, textOf } from './support/desk.ts';
import { yamlEditor } from './support/editor.ts';
import { barriers } from './support/look.ts';

const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const answer = {
  page: 1,
  bookings: [1, 2, 3].map((number) => ({
    bookingRef: `HB-${number}`,
    arrivalDate: soon(number),
    departureDate: soon(number + 2),
    bookingStatus: 'Confirmed',
    totalPrice: '240.00',
    currency: 'EUR',
    sourceId: 7,
    mainGuest: {
      firstName: 'TOMÁS',
      lastName: 'REIS',
      emailAddress: `tomas.${number}@letters.example`,
      mobile: '912 345 678',
    },
  })),
  sources: [{ id: 7, name: 'Seaside Travel' }],
};

/** Somebody who knows nothing of Innbound has an answer of an API, and connects the system in the browser alone. */
describe('a newcomer', { skip }, () => {
  let desk: Desk;
  let page: Page;
  let partner: Server;
  const asked: string[] = [];
  before(async () => {
    partner = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://partner.example');
      asked.push(`${request.method} ${request.url}`);
      const isKnown = request.headers.authorization === 'Bearer open sesame';
      const isRight = pathname === '/v3/bookings' && /^\d\d\/\d\d\/\d{4}$/.test(searchParams.get('arriveFrom') ?? '');
      const isFirst = (searchParams.get('page') ?? '1') === '1';
      const [status, body] = !isKnown
        ? [401, { error: 'who are you?' }]
        : isRight
          ? [200, isFirst ? answer : { ...answer, bookings: [] }]
          : [400, { error: 'arriveFrom is wrong' }];
      response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve));
    desk = await openDesk();
    page = await desk.signIn();
  });
  after(async () => {
    await desk?.stop();
    partner.close();
    partner.closeAllConnections();
  });

  test('pastes the answer and says what the brand is', async () => {
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByLabel('Sample as JSON').fill(JSON.stringify(answer));
    await page.getByLabel('Name of the system').fill('seaside');
    assert.deepEqual(await barriers(page), []);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('cove-inn');
    await page.getByLabel('Brand id').fill('COV1');
    await page.getByLabel('Time zone').first().fill('Europe/Lisbon');
    await page.keyboard.press('Tab');
    await page.getByLabel('Country').fill('PT');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('3 of 3 records valid').waitFor();
    await page.getByRole('region', { name: 'Canonical record, linked' }).getByText('+351912345678').waitFor();
  });

  test('takes a value that lies outside the records from its list', async () => {
    await page.getByRole('region', { name: 'Raw record, linked' }).locator('[data-path="sourceId"]').click();
    await page.getByRole('combobox', { name: 'Map sourceId to' }).fill('channel');
    await page.getByRole('option', { name: 'channel' }).click();
    await page.getByRole('combobox', { name: 'Take' }).click();
    await page.getByRole('option', { name: 'name of sources' }).click();
    await page.getByRole('button', { name: 'Map', exact: true }).click();
    await page.getByRole('region', { name: 'Canonical record, linked' }).getByText('Seaside Travel').waitFor();
  });

  test('fills in the request in a form; the text beside it says the same', async () => {
    await page.getByLabel('Path').fill('/v3/bookings');
    await page.getByLabel('Parameter of the first day').fill('arriveFrom');
    await page.getByLabel('Parameter of the last day').fill('arriveTo');
    await page.getByRole('combobox', { name: 'How a day is written' }).fill('DD/MM/YYYY');
    await page.keyboard.press('Tab');
    const editor = yamlEditor(page, 'Connector as YAML');
    await until('the text follows', async () => (await editor.text()).includes('{window.from:DD/MM/YYYY}'));
    assert.match(await editor.text(), /path: \/v3\/bookings/);
    assert.deepEqual(await barriers(page), []);
    await page.getByRole('button', { name: 'Save seaside and continue' }).click();
  });

  test('gives the address and a key; a wrong key is seen, and alarms nobody', async () => {
    const { port } = partner.address() as AddressInfo;
    await page.getByLabel('Base URL').fill(`http://127.0.0.1:${port}`);
    await page.getByLabel('Token').fill('guess');
    await page.getByRole('checkbox', { name: 'lake' }).check();
    assert.match(await textOf(page.getByRole('region', { name: 'The document so far' })), /token: "\$\{secret:/);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Test the connection' }).click();
    const failed = page.locator('.card', { hasText: 'Last request' }).last();
    await failed.getByText(/401 after/).waitFor();
    assert.match(await textOf(failed), /GET http.*\/v3\/bookings\?arriveFrom=/);
    const { open_alerts } = (await desk.api<{ totals: { open_alerts: number } }>('GET', '/overview')).totals;
    assert.equal(open_alerts, 0);
  });

  test('corrects the key, sees the records, and starts the pulls', async () => {
    await page.getByRole('button', { name: 'Correct the address or the credentials' }).click();
    await page.getByLabel('Token').fill('open sesame');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Test the connection' }).click();
    await page.getByText('The partner answered', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('status').filter({ hasText: '3 would be stored' }).waitFor();
    await page.getByRole('button', { name: 'Start pulling' }).click();
    await page
      .getByRole('row', { name: /Pre-stay/ })
      .getByText('Complete')
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Open cove-inn' }).click();
    await page.getByRole('heading', { name: 'cove-inn', level: 1 }).waitFor();
    const found = await desk.api<{ items: { id: string }[] }>('GET', '/reservations?integration=cove-inn');
    assert.equal(found.items.length, 3, asked.join('\n'));
  });
});
