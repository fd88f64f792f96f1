import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Desk, openDesk, skip } from './support/desk.ts';

describe('alert routes', { skip }, () => {
  const taken: string[] = [];
  let status = 200;
  const chat = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      taken.push(JSON.parse(text).text);
      response.writeHead(status).end('ok');
    });
  });
  let desk: Desk;
  let page: Page;
  before(async () => {
    await new Promise<void>((ready) => chat.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/hook`;
    const quiet = '{ from: "22:00", to: "07:00", timezone: Europe/Lisbon }';
    desk = await openDesk({
      'innbound.yaml': `network: { allow_private: true }
alerts: { routes: { night-desk: { type: slack, url: "${url}", severities: [critical], quiet: ${quiet} } } }
`,
    });
    page = await desk.signIn({ role: 'operator' });
    await page.getByRole('link', { name: 'Alerts' }).first().click();
  });
  after(async () => {
    await desk?.stop();
    chat.close();
  });

  test('an operator sees the routes and tries one', async () => {
    const row = page.getByRole('row', { name: /night-desk/ });
    await row.getByText('22:00 to 07:00, Europe/Lisbon').waitFor();
    await page.getByRole('button', { name: 'Test night-desk' }).click();
    await page.getByText('A test alert was sent over night-desk.').waitFor();
    assert.equal(taken.length, 1);
    assert.match(taken[0] ?? '', /This is a test of the alert route/);
  });

  test('an operator reads why a route does not work', async () => {
    status = 404;
    await page.getByRole('button', { name: 'Test night-desk' }).click();
    await page.getByText('night-desk: slack answered 404.').waitFor();
  });

  test('a viewer sees the routes without a button', async () => {
    const viewer = await desk.signIn({ role: 'viewer' });
    await viewer.getByRole('link', { name: 'Alerts' }).first().click();
    await viewer.getByRole('row', { name: /night-desk/ }).waitFor();
    assert.equal(await viewer.getByRole('button', { name: 'Test night-desk' }).count(), 0);
  });
});
