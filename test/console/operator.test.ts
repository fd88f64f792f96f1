import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { settleAlerts } from '../../src/operator/store/alerts.ts';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/** The operator: why is this reservation not in the CRM? */
describe('the operator', { skip }, () => {
  let setup: Setup;
  let page: Page;
  /** Receives the alerts. */
  const chat = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      told.push(JSON.parse(text).text);
      response.writeHead(chatStatus).end('ok');
    });
  });
  const told: string[] = [];
  let chatStatus = 200;
  before(async () => {
    const lake = 'destination: lake\ntype: files\npath: out\nreceives: [reservation, guest]\n';
    await new Promise<void>((ready) => chat.listen(0, '127.0.0.1', ready));
    const url = `http://127.0.0.1:${(chat.address() as AddressInfo).port}/hook`;
    const quiet = '{ from: "22:00", to: "07:00", timezone: Europe/Lisbon }';
    const route = `{ type: slack, url: "${url}", severities: [critical], integrations: [grand], quiet: ${quiet} }`;
    setup = await openSetup({
      'destinations/lake.yaml': lake,
      'innbound.yaml': `network: { allow_private: true }\nalerts: { routes: { night-desk: ${route} } }\n`,
    });
    setup.crm.refuse = (id) => id === 'R7';
    await setup.push('grand', { event: 'reservation.created', event_id: 'e1', data: booking('R1') });
    await setup.push('grand', { event: 'reservation.created', event_id: 'e7', data: booking('R7') });
    // Lists of reservations do not refresh by themselves, because each reading of guest data is audited.
    await until('the CRM has refused one and accepted the other', async () => {
      const { total } = await setup.api<{ total: number }>('GET', '/dead-letters');
      return total === 1 && setup.crm.taken.includes('R1');
    });
    page = await setup.signIn({ role: 'operator' });
  });
  after(async () => {
    await setup?.stop();
    chat.close();
  });

  test('finds the reservation from any page with the keyboard, and reads why one destination lacks it', async () => {
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('LIS-R7');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: /LIS-R7/ });
    await row.getByText('1 dead letter').waitFor();
    await row.getByRole('link', { name: 'LIS-R7' }).click();
    const where = page.locator('.card', { has: page.getByRole('heading', { name: 'Destinations' }) });
    await where.getByText('Blocked', { exact: true }).waitFor();
    assert.match(await textOf(where), /The destination answered 422: loyalty tier is required/);
    assert.match(await textOf(where), /Has version 1/);
  });

  test('never reads the results of one search under the title of another', async () => {
    const results = page.locator('.card', { has: page.getByRole('heading', { name: /^Results for/ }) });
    await page.goBack();
    await results.getByRole('row', { name: /LIS-R7/ }).waitFor();
    const answer: (() => Promise<void>)[] = [];
    await page.route('**/api/v1/reservations?*', (route) => void answer.push(() => route.continue()));
    await page.getByLabel('Find a reservation').fill('LIS-R1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Results for “LIS-R1”' }).waitFor();
    const shown = await textOf(results);
    for (const one of answer) await one();
    await page.unrouteAll();
    assert.doesNotMatch(shown, /LIS-R7/);
    await results.getByRole('row', { name: /LIS-R1/ }).waitFor();
    await go(page, '/reservations/grand/reservations/R7');
  });

  test('reads the payload, and why values differ from it', async () => {
    const ledger = page.getByRole('list').filter({ hasText: 'Created as version 1' });
    const text = await textOf(ledger);
    assert.match(text, /guest 1, phone/);
    assert.match(text, /\+351912345678/);
    await ledger.getByText('Payload', { exact: true }).click();
    await page
      .getByRole('region', { name: /^Payload of/ })
      .getByText('912 345 678')
      .waitFor();
  });

  test('replays the dead letter once the CRM accepts it, and sees it arrive', async () => {
    await page.getByRole('link', { name: 'Open the dead letter' }).click();
    await page.getByText('It would be sent again unchanged').waitFor();
    // The destination's own words come first.
    const [reason] = await page.locator('.notice strong').allTextContents();
    assert.equal(reason, 'The destination answered 422: loyalty tier is required');
    setup.crm.refuse = () => false;
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('It was replayed').waitFor();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.locator('.ticks li', { hasText: /crm has it/ }).waitFor();
    assert.deepEqual(
      setup.crm.taken.filter((id) => id === 'R7'),
      ['R7'],
    );
  });

  test('follows an event that waits for its reservation to the search, not into a dead end', async () => {
    const { pool } = setup.service.runtime;
    await pool.query(
      `update events set state = 'hydrate', outcome = null, id = 'R9', attempt = 3, due_at = now() + interval '1 day' where event_id = 'e1'`,
    );
    await go(page, '/events');
    await page
      .getByRole('row', { name: /To be fetched/ })
      .getByRole('link', { name: 'reservation.created' })
      .click();
    await page.getByText('Tried3 times').waitFor();
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByText('There is no reservation R9 in grand.').waitFor();
    setup.complaints.splice(0);
    await page.getByRole('link', { name: 'Search for R9' }).click();
    await page.getByRole('row', { name: /R9.*Waiting.*not applied yet/ }).waitFor();
    await pool.query(`update events set state = 'done', outcome = 'created', id = 'R1' where event_id = 'e1'`);
  });

  test('drops a dead letter with a reason', async () => {
    await setup.push('grand', {
      event: 'reservation.created',
      event_id: 'e8',
      data: booking('R8', { check_out: '2031-05-01', remarks: Array.from({ length: 60 }, (_, n) => `line ${n}`) }),
    });
    await until('it is a dead letter', async () => {
      const { items } = await setup.api<{ items: { record_id: string }[] }>('GET', '/dead-letters');
      return items.some(({ record_id }) => record_id === 'R8');
    });
    await go(page, '/reservations?q=R8');
    const refused = page.getByRole('table', { name: 'What else arrived' }).getByRole('row', { name: /R8/ });
    const line = `getComputedStyle(document.querySelector('td span.name')).textDecorationLine`;
    assert.equal(await page.evaluate(line), 'none', 'what is no link does not look like one');
    assert.match(await textOf(refused), /Refused.*check_out must not be before check_in/);
    await refused.getByRole('link', { name: 'Dead letter' }).click();
    await page.getByText('It would fail again').waitFor();
    const marked = page.getByRole('region', { name: 'Payload' }).locator('mark', { hasText: 'check_out' });
    const box = await page.getByRole('region', { name: 'Payload' }).boundingBox();
    const bad = await marked.boundingBox();
    assert.ok(box && bad && bad.y >= box.y && bad.y + bad.height <= box.y + box.height, 'the bad value is in sight');
    assert.ok(await page.getByRole('button', { name: 'Replay' }).isDisabled());
    await page.getByRole('button', { name: 'Drop …' }).click();
    await page.getByLabel('Reason, for the audit').fill('a test booking of the partner');
    await page.getByRole('button', { name: 'Drop', exact: true }).click();
    await page.getByText('It was dropped').waitFor();
    await page.getByText('a test booking of the partner').waitFor();
  });

  test('starts a run and sees it finish without a reload', async () => {
    await page.getByRole('link', { name: 'Integrations' }).first().click();
    await page.getByRole('link', { name: 'grand' }).click();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('menuitem', { name: 'Pre-stay' }).click();
    const run = page.getByRole('row', { name: /manual, by/ }).first();
    await run.getByText('Complete').waitFor();
    await run.getByRole('link').click();
    await page.getByRole('heading', { name: 'Pre-stay of grand' }).waitFor();
    assert.match(await textOf(page.getByRole('main')), /1 row fetched/);
    await page.getByRole('button', { name: /^1 (changed|same)$/ }).click();
    await page.getByRole('link', { name: 'R500' }).waitFor();
  });

  test('pauses and resumes a brand', async () => {
    await go(page, '/integrations/grand');
    await page.getByRole('button', { name: 'Pause pulling' }).click();
    await page.getByText('Pulls were paused by Ada, operator').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause pulling' }).waitFor();
  });

  test('sees the alert routes, tries one, and reads why it does not work', async () => {
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    const row = page.getByRole('row', { name: /night-desk/ });
    await row.getByText('22:00 to 07:00, Europe/Lisbon').waitFor();
    const test = page.getByRole('button', { name: 'Test night-desk' });
    await test.click();
    await page.getByText('A test alert was sent over night-desk.').waitFor();
    assert.match(told.join(), /This is a test of the alert route/);
    chatStatus = 404;
    await test.click();
    await page.getByText('night-desk: slack answered 404.').waitFor();
    chatStatus = 200;
    const viewer = await setup.signIn({ role: 'viewer' });
    await go(viewer, '/alerts');
    await viewer.getByRole('row', { name: /night-desk/ }).waitFor();
    assert.equal(await viewer.getByRole('button', { name: 'Test night-desk' }).count(), 0);
    await viewer.context().close();
  });

  test('acknowledges an alert', async () => {
    const alert = {
      kind: 'test_silence',
      integration: 'grand',
      subject: 'push',
      severity: 'warning',
      detail: {},
    } as const;
    await settleAlerts(setup.service.runtime.pool, [{ ...alert, message: 'No event for an hour.' }], ['test_silence']);
    await page.getByRole('link', { name: 'Alerts' }).first().click();
    await page.getByRole('button', { name: 'Acknowledge test silence grand' }).click();
    await page.getByText('Acknowledged by Ada, operator').waitFor();
  });

  test('an incident shows its alerts and what was tried, is acknowledged as one, and sums up its end', async () => {
    const { pool } = setup.service.runtime;
    // Kinds that the service evaluates every 20 minutes, so that it does not resolve them meanwhile.
    const kinds = ['runs_slow', 'feed_low'];
    const alert = {
      integration: 'grand',
      subject: 'pull',
      severity: 'critical',
      detail: {},
      message: 'No answer.',
    } as const;
    const conditions = kinds.map((kind) => ({ ...alert, kind }));
    await settleAlerts(pool, conditions, kinds);
    await page.getByRole('link', { name: 'Incidents' }).first().click();
    await page.getByRole('link', { name: 'Pulling grand' }).click();
    await page.getByRole('heading', { name: '2 alerts' }).waitFor();
    await setup.api('POST', '/integrations/grand/resume', {});
    // By itself the page asks again after 20 s.
    await page.reload();
    await page.getByRole('cell', { name: 'Resumed grand' }).waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('Acknowledged by Ada, operator').waitFor();
    await settleAlerts(pool, [], [...kinds, 'test_silence']);
    await page.reload();
    await page.getByText(/^Over after/).waitFor();
  });

  test('sees a change live', async () => {
    await page.getByRole('link', { name: 'Performance' }).first().click();
    await page.getByText('Live', { exact: true }).waitFor();
    await setup.push('grand', { event: 'reservation.created', event_id: 'e2', data: booking('R2') });
    const ticker = page.locator('.card', { has: page.getByRole('heading', { name: 'Latest changes' }) });
    await ticker.getByRole('link', { name: 'R2' }).waitFor();
  });

  test('merges two profiles of one guest, undoes it, and splits one that two people share', async () => {
    const ana = { first_name: 'Ana', last_name: 'Prado' };
    const guests = [
      { ...ana, email: 'ana@letters.example', phone: '+351912000111' },
      { ...ana, email: 'prado@work.example' },
    ];
    for (const [n, guest] of guests.entries()) {
      const data = booking(`P${n}`, { guests: [guest] });
      await setup.push('grand', { event: 'reservation.created', event_id: `p${n}`, data });
    }
    const [first] = await until('there are two profiles', async () => {
      const { items } = await setup.api<{ items: { id: string; data: { phone?: string } }[] }>(
        'GET',
        '/guests?q=prado',
      );
      return items.length === 2 && items.filter(({ data }) => data.phone);
    });
    await go(page, `/reservations/grand/guests/${first?.id}`);
    await page.getByRole('button', { name: 'Merge into another profile …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Choose Ana Prado/ }).click();
    const result = dialog.getByRole('table', { name: 'What the merge gives' });
    assert.match(await textOf(result.getByRole('row', { name: /Phone/ })), /\+351912000111–\+351912000111/);
    await dialog.getByRole('button', { name: 'Merge', exact: true }).click();
    await page.getByText(/^Merged into gst_/).waitFor();
    await page.getByRole('button', { name: 'Undo the merge' }).click();
    await page.getByRole('heading', { name: 'Ana Prado' }).waitFor();
    await page.getByRole('button', { name: 'Split …' }).click();
    await dialog.getByRole('checkbox', { name: 'Phone: +351912000111' }).check();
    await dialog.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText(/^Split\. The other person is profile gst_/).waitFor();
    const record = page.getByRole('region', { name: 'Canonical record' });
    await until('the profile is shown without the number', async () => !(await textOf(record)).includes('912000111'));
  });

  test('the browser reported no error', () => assert.deepEqual(setup.complaints, []));
});
