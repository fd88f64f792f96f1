import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { barriers } from './support/look.ts';
import { booking, openSetup, openUserMenu, type Setup, skip, textOf } from './support/setup.ts';

const focused = (page: Page) => page.evaluate(`(document.activeElement?.textContent ?? '').trim()`);

describe('the console by hand and by key', { skip }, () => {
  let setup: Setup;
  before(async () => {
    setup = await openSetup({
      'integrations/quay.yaml':
        'integration: quay\nconnector: hotel\nbrand_id: QUA01\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [lake]\n',
    });
    for (const id of ['R1', 'R2', 'R3']) {
      await setup.push('grand', { event: 'reservation.created', event_id: `e-${id}`, data: booking(id) });
    }
  });
  after(() => setup.stop());

  test('Ctrl-K goes to a page or a brand; Esc returns the focus', async () => {
    const page = await setup.signIn();
    await page.getByRole('link', { name: 'Runs' }).focus();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to or do' });
    await field.waitFor();
    assert.deepEqual(await barriers(page), []);
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'Runs');

    await page.keyboard.press('Control+k');
    await field.fill('dead');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dead-letters');
    await page.keyboard.press('Control+k');
    await field.fill('gra');
    await page.getByRole('option', { name: /^grand/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/integrations/grand');
    await page.keyboard.press('Control+k');
    await field.fill('LIS-R2');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/reservations?q=LIS-R2');
  });

  test('? lists the keys; j and k move in a list; going back returns the focus to the row', async () => {
    const page = await setup.signIn();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    assert.deepEqual(await barriers(page), []);
    await page.keyboard.press('Escape');
    await go(page, '/integrations');
    const [first = '', second = ''] = await page.locator('table.list tbody tr .name').allTextContents();
    await page.keyboard.press('j');
    assert.equal(await focused(page), first);
    await page.keyboard.press('j');
    assert.equal(await focused(page), second);
    await page.keyboard.press('k');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/integrations/${second}`);
    await page.getByRole('heading', { name: second, level: 1 }).waitFor();
    await page.goBack();
    await until('the focus is on the row again', async () => (await focused(page)) === second);
  });

  test('letters typed into a field are text', async () => {
    const page = await setup.signIn();
    const finder = page.getByRole('searchbox', { name: 'Find a reservation' });
    await finder.pressSequentially('jk?');
    assert.equal(await finder.inputValue(), 'jk?');
  });

  test('the menu of the user has the theme, the keys and the two ways out', async () => {
    const page = await setup.signIn();
    await openUserMenu(page);
    assert.deepEqual(await barriers(page), []);
    assert.match(
      await textOf(page.locator('#user-menu')),
      /Light theme.*Keyboard shortcuts.*Sign out.*Sign out everywhere/s,
    );
    await page.getByRole('button', { name: 'Light theme' }).click();
    await page.locator('[data-mantine-color-scheme="light"]').waitFor();
    await page.keyboard.press('Escape');
    assert.match(String(await focused(page)), /^Ada, admin/);
  });

  test('the first page is under 200 KB, with a brand that has no endpoint the browser reports no 404', async () => {
    const page = await setup.signIn();
    const requests: Request[] = [];
    page.on('requestfinished', (request) => requests.push(request));
    await page.reload();
    await page.getByRole('heading', { name: 'Health of each brand' }).waitFor();
    const entries = await Promise.all(
      requests.map(async (request) => {
        const length = await (await request.response())?.headerValue('content-length');
        return { name: request.url(), bytes: Number(length ?? 0) };
      }),
    );
    // By address: requests of the page before the reload may end only now.
    const bytes = [...new Map(entries.map((one) => [one.name, one.bytes])).values()].reduce((sum, one) => sum + one, 0);
    assert.ok(entries.length > 5 && bytes > 50_000 && bytes < 200_000, `${bytes}: ${JSON.stringify(entries)}`);
    await go(page, '/integrations/quay?tab=push');
    await page.getByRole('button', { name: 'Issue the endpoint' }).waitFor();
    assert.deepEqual(setup.complaints, []);
  });
});
