import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Simulator, startSimulator } from '../../../packages/partner-kit/src/simulate/index.ts';
import { browserFlags, requiredBrowser } from '../../../scripts/prepare-browser.ts';
import { sealerOf } from '../../../src/composition/push.ts';
import { transaction } from '../../../src/core/store/db/pool.ts';
import { rotateSecret } from '../../../src/core/store/events/endpoints.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { type Service, startService } from '../../../src/service.ts';
import { barriers } from '../../console/support/look.ts';
import { skip } from '../../console/support/setup.ts';
import { testDatabase } from '../../support/database.ts';
import { until } from '../../support/process.ts';

/** The simulator's page in a browser: a user changes a reservation and sees it arrive at the service. */

let folder: string;
let service: Service;
let partner: Simulator;
let browser: Browser;
let page: Page;
let address: { readonly url: string; readonly secret: string };
const complaints: string[] = [];

before(async () => {
  if (skip) return;
  folder = await mkdtemp(join(tmpdir(), 'innbound-page-'));
  for (const kind of ['connectors', 'integrations']) await mkdir(join(folder, kind));
  await writeFile(join(folder, 'connectors', 'pms.yaml'), 'connector: pms\n');
  await writeFile(
    join(folder, 'integrations', 'lisbon.yaml'),
    'integration: lisbon\nconnector: pms\nbrand_id: LIS01\ntimezone: Europe/Lisbon\ncountry: PT\npush: { enabled: true }\n',
  );
  const env = { DATABASE_URL: (await testDatabase()).url };
  service = await startService({
    env,
    workspaceDir: folder,
    host: '127.0.0.1',
    port: 0,
    role: 'all',
    logLevel: 'silent',
  });
  const issued = await addressFor(service.runtime, 'lisbon');
  address = { url: `${service.url}/webhooks/${issued.endpoint_id}`, secret: issued.secret ?? '' };
  partner = await startSimulator({ seed: 11, reservations: 80, untidy: 0, sender: { wait: async () => undefined } });
  browser = await chromium.launch({ executablePath: requiredBrowser(), args: [...browserFlags] });
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(partner.baseUrl)) complaints.push(`a request to ${request.url()}`);
  });
  await page.goto(`${partner.baseUrl}/_sim`);
});
after(async () => {
  await browser?.close();
  await partner?.stop();
  await service?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const stored = async (id: string) => {
  const { rows } = await service.runtime.pool.query<{ version: number; status: string }>(
    `select version, data->>'status' as status from records where type = 'reservation' and id = $1 and version > 0`,
    [id],
  );
  return rows[0];
};
const status = () => page.getByRole('status');
const live = () => page.locator('#live');

test('the page shows the reservations, and that no endpoint is set', { skip }, async () => {
  await page.locator('#book tr').first().waitFor();
  await page.getByText('Not set.').waitFor();
  assert.ok((await page.locator('#book tr').count()) > 10);
  assert.match((await page.locator('#stats').textContent()) ?? '', /reservations80/);
  assert.deepEqual(await barriers(page), []);
});

test('after the endpoint is set, a manual change arrives there', { skip }, async () => {
  await page.getByLabel('Endpoint URL').fill(address.url);
  await page.getByLabel('Secret').fill(address.secret);
  await page.getByLabel('Brand id').fill('LIS01');
  await page.getByRole('button', { name: 'Use' }).click();
  await status().getByText('Events are sent there from now on.').waitFor();
  await page.locator('#push').getByText(address.url).waitFor();
  assert.equal(await page.getByLabel('Secret').inputValue(), '', 'the secret does not stay in the page');

  await page.getByLabel('Search reservations').fill('confirmed');
  await page.getByRole('button', { name: 'Search' }).click();
  const row = page.locator('#book tr', { hasText: 'confirmed' }).first();
  await row.waitFor();
  const id = (await row.locator('td').first().textContent()) ?? '';
  await row.click();
  assert.equal(await row.getAttribute('aria-selected'), 'true');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await status().getByText(`${id} `).waitFor();
  await live()
    .locator('.good', { hasText: `→ ${id} reservation.cancelled` })
    .waitFor();
  const arrived = await until('the cancellation is stored', () => stored(id));
  assert.equal(arrived.status, 'cancelled');

  await page.getByRole('button', { name: 'Reinstate' }).click();
  const again = await until('the reservation is back', async () => {
    const seen = await stored(id);
    return seen && seen.version > 1 && seen;
  });
  assert.equal(again.status, 'confirmed');
});

test('a refused action is reported, and no event is sent', { skip }, async () => {
  await page.getByLabel('Search reservations').fill('cancelled');
  await page.getByRole('button', { name: 'Search' }).click();
  const row = page.locator('#book tr', { hasText: 'cancelled' }).first();
  // The list may be drawn again between the focus and the key.
  await until('the row is selected', async () => {
    await row.focus();
    await page.keyboard.press('Enter');
    return (await row.getAttribute('aria-selected')) === 'true';
  });
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.locator('#said.bad', { hasText: 'is already cancelled' }).waitFor();
});

test('faults can be added and cleared, and requests are shown', { skip }, async () => {
  await page.getByLabel('Kind of fault').selectOption('server_error');
  await page.getByLabel('How many times').fill('1');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.locator('#faults').getByText('server_error, 1 more times').waitFor();
  const today = partner.hotel.today('LIS01');
  const list = `${partner.baseUrl}/api/reservations?dateFrom=${today}&dateTo=${today}`;
  assert.equal((await fetch(list)).status, 500);
  assert.equal((await fetch(list)).status, 200);
  await live().locator('li', { hasText: '← GET /api/reservations' }).locator('.bad', { hasText: '500' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('None.').waitFor();
});

test('an endpoint that refuses causes a dead letter, which the page can replay', { skip }, async () => {
  const other = 'whsec_the-secret-of-tomorrow-morning';
  await page.getByLabel('Endpoint URL').fill(address.url);
  await page.getByLabel('Secret').fill(other);
  await page.getByLabel('Brand id').fill('LIS01');
  await page.getByRole('button', { name: 'Use' }).click();
  await status().getByText('Events are sent there from now on.').waitFor();
  await page.getByRole('button', { name: 'Book a room' }).click();
  await status()
    .getByText(/booked/)
    .waitFor();
  await live().locator('.bad', { hasText: 'reservation.created' }).waitFor();
  assert.equal(partner.stats.pushes.dead, 1);

  const { runtime } = service;
  await transaction(runtime.pool, (tx) => rotateSecret(tx, 'lisbon', 0, sealerOf(runtime), other));
  await page.getByRole('button', { name: 'Replay dead letters' }).click();
  await status().getByText('Done.').waitFor();
  const [letter] = await Promise.all(partner.pushers.map(({ sender }) => sender.deadLetters()));
  assert.deepEqual(letter, []);
  assert.deepEqual(complaints, []);
});
