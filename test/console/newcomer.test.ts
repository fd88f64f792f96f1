import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../support/process.ts';
import { yamlEditor } from './support/editor.ts';
import { go } from './support/go.ts';
import { barriers } from './support/look.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

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
  let setup: Setup;
  let page: Page;
  let partner: Server;
  const asked: string[] = [];
  let password = 'open sesame';
  let isGone = false;
  before(async () => {
    partner = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://partner.example');
      asked.push(`${request.method} ${request.url}`);
      const isKnown = request.headers.authorization === `Bearer ${password}`;
      const isRight = pathname === '/v3/bookings' && /^\d\d\/\d\d\/\d{4}$/.test(searchParams.get('arriveFrom') ?? '');
      const isFirst = (searchParams.get('page') ?? '1') === '1';
      const [status, body] = !isKnown
        ? [401, { error: 'who are you?' }]
        : isRight
          ? [isGone ? 404 : 200, isFirst ? answer : { ...answer, bookings: [] }]
          : [400, { error: 'arriveFrom is wrong' }];
      response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve));
    setup = await openSetup();
    page = await setup.signIn();
  });
  after(async () => {
    await setup?.stop();
    partner.close();
    partner.closeAllConnections();
  });

  test('pastes the answer and says what the brand is', async () => {
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByText('An answer', { exact: true }).click();
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
    await page.getByText(/rooms 0 of 3/).waitFor();
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
    await page.getByText('By change', { exact: true }).click();
    await page.getByLabel('Longest range of one request').fill('31d');
    await page.getByLabel('Parameter of the last time').waitFor();
    await until('the text has the changes', async () =>
      /arriveFrom: "\{since:DD\/MM\/YYYY\}"[\s\S]*arriveTo: "\{now:[\s\S]*since:\s+step: 31d/.test(await editor.text()),
    );
    await page.getByText('As a whole', { exact: true }).click();
    await until('the text has no dates', async () => /window: none/.test(await editor.text()));
    await page.getByText('By stay dates', { exact: true }).click();
    await page.getByLabel('Parameter of the first day').fill('arriveFrom');
    await page.getByLabel('Parameter of the last day').fill('arriveTo');
    await page.getByRole('combobox', { name: 'How a day is written' }).fill('DD/MM/YYYY');
    await page.keyboard.press('Tab');
    await until('the text has the stays', async () => (await editor.text()).includes('{window.to:DD/MM/YYYY}'));
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
    const { open_alerts } = (await setup.api<{ totals: { open_alerts: number } }>('GET', '/overview')).totals;
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
    const found = await setup.api<{ items: { id: string }[] }>('GET', '/reservations?integration=cove-inn');
    assert.equal(found.items.length, 3, asked.join('\n'));
  });

  test('sees who would get what before anything leaves, and releases it', async () => {
    await page.getByText('Deliveries to lake are in preview: 3 changes are waiting until you release them.').waitFor();
    await page.getByRole('button', { name: 'Preview and release … lake' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Release cove-inn to lake' });
    await dialog.getByText('reservations to send').waitFor();
    assert.deepEqual(await barriers(page), []);
    await dialog.getByRole('button', { name: 'Release 3 records' }).click();
    await page.getByText('lake gets what waited, and everything after it.').waitFor();
    await until('everything is delivered', async () => {
      const { lanes } = await setup.api<{ lanes: { waiting: number }[] }>('GET', '/integrations/cove-inn');
      return lanes.every(({ waiting }) => waiting === 0);
    });
  });

  for (const [status, change] of [
    [404, () => (isGone = true)],
    [401, () => (password = 'changed')],
  ] as const) {
    test(`after a ${status}, the page of the run shows what was asked and answered`, async () => {
      change();
      const { run_id } = await setup.api<{ run_id: string }>('POST', '/integrations/cove-inn/runs', {
        sync: 'pre_stay',
      });
      await go(page, `/runs/${run_id}`);
      const sent = page.locator('.card', { hasText: 'Last request' });
      await sent.getByText(`${status} after`).waitFor();
      const text = await textOf(sent);
      assert.match(text, /GET http.*\/v3\/bookings\?arriveFrom=\d\d/);
      assert.doesNotMatch(text, /open sesame|TOMÁS|tomas\.\d|Seaside Travel/, 'neither credentials nor guests');
      assert.match(text, status === 401 ? /error/ : /bookings/, 'the beginning of the answer');
    });
  }

  test('a spelling that no brand knows is added for all of them with one click', async () => {
    const stays = [{ room_type: 'Double', board_type: 'Bed & Brekkie', adults: 2, children: 0 }];
    await setup.push('grand', { event: 'reservation.created', event_id: 'e1', data: booking('R1', { stays }) });
    await until('the spelling is counted', async () => {
      const { items } = await setup.api<{ items: { value: string }[] }>('GET', '/spellings/unknown');
      return items.some(({ value }) => value === 'Bed & Brekkie');
    });
    await go(page, '/documents');
    const row = page.getByRole('row', { name: /Bed & Brekkie/ });
    assert.match(await textOf(row), /board.*1.*grand/);
    await row.getByLabel('What Bed & Brekkie means').fill('bed_and_breakfast');
    await row.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Bed & Brekkie means bed_and_breakfast for all brands.').waitFor();
    await row.waitFor({ state: 'detached' });
  });
});

const german = (iso: string) => iso.split('-').reverse().join('.');
const buchungen = [1, 2, 3].map((number) => ({
  buchungsnummer: `AB-${number}`,
  anreise: german(soon(number)),
  abreise: german(soon(number + 2)),
  status: 'bestätigt',
  gast: { vorname: 'Liesl', nachname: 'Moosbrugger', email: `liesl.${number}@briefe.example`, telefon: '0664 1234510' },
  zimmer: { kategorie: 'Doppelzimmer', nummer: String(200 + number), erwachsene: 2, kinder: 0 },
  gesamtpreis: '1.234,50',
  währung: 'EUR',
}));

describe('a newcomer with a German system, page tokens and OAuth', { skip }, () => {
  let setup: Setup;
  let page: Page;
  let partner: Server;
  before(async () => {
    partner = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://partner.example');
      const { authorization = '' } = request.headers;
      const basic = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
      const isDate = /^\d\d\.\d\d\.\d{4}$/.test(searchParams.get('von') ?? '');
      const first = { buchungen: buchungen.slice(0, 2), naechsteSeite: '2' };
      const [status, body] =
        pathname === '/oauth/token'
          ? basic === 'alm:enzian'
            ? [200, { access_token: 'at-77', token_type: 'Bearer', expires_in: 600 }]
            : [401, { error: 'invalid_client' }]
          : authorization !== 'Bearer at-77' || pathname !== '/v2/buchungen' || !isDate
            ? [400, { fehler: 'so nicht' }]
            : [200, searchParams.get('seitenmarke') === '2' ? { buchungen: buchungen.slice(2) } : first];
      request.resume();
      response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve));
    setup = await openSetup();
    page = await setup.signIn();
  });
  after(async () => {
    await setup?.stop();
    partner.close();
    partner.closeAllConnections();
  });

  test('a city is no time zone and UK no country code: the form says so before the next step', async () => {
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByText('An answer', { exact: true }).click();
    await page.getByLabel('Sample as JSON').fill(JSON.stringify({ buchungen, naechsteSeite: '2' }));
    await page.getByLabel('Name of the system').fill('alpenblick');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('gasthof-alm');
    await page.getByLabel('Brand id').fill('ALM');
    await page.getByLabel('Time zone').first().fill('Vienna');
    await page.keyboard.press('Tab');
    await page.getByLabel('Country').fill('uk');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Choose one from the list').waitFor();
    await page.getByText('the United Kingdom is GB').waitFor();
    await page.getByLabel('Time zone').first().fill('Vienna');
    await page.getByRole('option', { name: 'Europe/Vienna' }).click();
    await page.getByLabel('Country').fill('at');
    await page.getByText('Austria').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('3 of 3 records valid').waitFor();
  });

  test('gives the request, the credentials and, after a mistake, the right ones; the pulls follow the pages', async () => {
    await page.getByLabel('Path').fill('/v2/buchungen');
    await page.getByLabel('Parameter of the first day').fill('von');
    await page.getByLabel('Parameter of the last day').fill('bis');
    await page.getByRole('combobox', { name: 'How a day is written' }).fill('DD.MM.YYYY');
    await page.keyboard.press('Tab');
    await page.getByLabel('Cursor').fill('seitenmarke');
    await page.getByRole('button', { name: 'Save alpenblick and continue' }).click();
    const { port } = partner.address() as AddressInfo;
    await page.getByLabel('Base URL').fill(`http://127.0.0.1:${port}`);
    await page.getByRole('combobox', { name: 'Authentication' }).click();
    await page.getByRole('option', { name: 'OAuth 2, client credentials' }).click();
    await page.getByLabel('Token URL').fill(`http://127.0.0.1:${port}/oauth/token`);
    await page.getByLabel('Client ID').fill('alm');
    await page.getByRole('checkbox', { name: 'lake' }).check();
    const apply = async (secret: string) => {
      await page.getByLabel('Client secret').fill(secret);
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('button', { name: 'Test the connection' }).click();
    };
    await apply('edelweiss');
    await page.getByText('The token address answered 401 (invalid_client)', { exact: true }).waitFor();
    const secret = await textOf(page.getByRole('region', { name: 'secret' }));
    await page.getByRole('button', { name: 'Correct the address or the credentials' }).click();
    await apply('enzian');
    await page.getByText('The partner answered', { exact: true }).waitFor();
    assert.equal(await textOf(page.getByRole('region', { name: 'secret' })), secret, 'it is still there to be copied');
    await page.getByRole('button', { name: 'Start pulling' }).click();
    await page
      .getByRole('row', { name: /Pre-stay/ })
      .getByText('Complete')
      .first()
      .waitFor();
    const found = await setup.api<{ items: { id: string }[] }>('GET', '/reservations?integration=gasthof-alm');
    assert.deepEqual(found.items.map(({ id }) => id).sort(), ['AB-1', 'AB-2', 'AB-3']);
    await page.getByRole('link', { name: 'Open gasthof-alm' }).click();
    await page.waitForURL('**/integrations/gasthof-alm');
    await page.getByRole('heading', { name: 'gasthof-alm', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Connect a brand' }).click();
    await page.getByText('An answer', { exact: true }).click();
    assert.equal(await page.getByLabel('Sample as JSON').inputValue(), '', 'the next brand begins with an empty form');
  });
});
