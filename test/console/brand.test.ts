import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { yamlEditor } from './support/editor.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/** One brand: authentication methods, sandbox reports, events, and retiring its endpoint. */
describe('the pages of a brand', { skip }, () => {
  let setup: Setup;
  let page: Page;
  let partner: Simulator;
  before(async () => {
    const auth = { type: 'oauth2', clientId: 'innbound', clientSecret: 'between us', autoApprove: true } as const;
    partner = await startSimulator({ seed: 3, reservations: 20, auth });
    setup = await openSetup();
    page = await setup.signIn();
  });
  after(async () => {
    await setup?.stop();
    await partner?.stop();
  });

  /** Fills in everything up to the credentials. */
  const begin = async (name: string, url: string, connector = /^hotel\b/) => {
    await go(page, '/onboard');
    await page.getByRole('heading', { name: 'Connect a brand' }).waitFor();
    // An earlier test may have left a draft.
    const startOver = page.getByRole('button', { name: /Start over|Connect another brand/ });
    if ((await startOver.count()) > 0) await startOver.click();
    await page.getByRole('radio', { name: connector }).first().check();
    await page.getByRole('button', { name: 'Next' }).click();
    await fillBrand(name);
    await fillFeeds(url);
  };
  const fillBrand = async (name: string) => {
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await page.getByLabel('Brand id').fill(name.toUpperCase());
    await page.getByLabel('Time zone').first().fill('Europe/Lisbon');
    // Leaving the field closes its list.
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Next' }).click();
  };
  const fillFeeds = async (url: string) => {
    await page.getByLabel('Base URL').fill(url);
    await page.getByRole('switch', { name: 'Accept pushed events' }).uncheck();
    await page.getByRole('checkbox', { name: 'lake' }).check();
  };
  const choose = async (way: RegExp) => {
    await page.getByRole('combobox', { name: 'Authentication' }).click();
    await page.getByRole('option', { name: way }).click();
  };
  const documentText = () => yamlEditor(page, 'Integration as YAML').text();

  /** Of today at the property; the simulated hotel has guests every day. */
  const dryRun = async () => {
    const day = new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Lisbon' }).format(new Date());
    assert.equal(await page.getByLabel('Day').inputValue(), day);
    await page.getByRole('button', { name: 'Dry run' }).click();
    const result = page.getByRole('status').filter({ hasText: 'would be stored' });
    assert.match(await textOf(result), new RegExp(`^${day}: \\d+ reservations?\\d+ would be stored`));
    await page.getByRole('region', { name: 'Canonical record' }).getByText('"check_in"').waitFor();
  };

  test('a shipped system is found by another name; only its credentials are asked for', async () => {
    await go(page, '/onboard');
    await page.getByRole('textbox', { name: 'System' }).fill('hospitible');
    await page.getByText('these are similar').waitFor();
    await page.getByRole('textbox', { name: 'System' }).fill('Smartbnb');
    await page.getByRole('radio', { name: /Hospitable/ }).check();
    assert.equal(await page.getByRole('radio').count(), 3 + 1, 'the ways, and the one system');
    await page.getByRole('button', { name: 'Next' }).click();
    await fillBrand('dune-house');
    await page.getByText('create a personal access token').waitFor();
    assert.equal(await page.getByLabel('Base URL').inputValue(), 'https://public.api.hospitable.com/v2');
    await page.getByLabel('Token').fill('open sesame');
    await page.getByRole('checkbox', { name: 'lake' }).check();
    await page.getByRole('button', { name: 'Next' }).click();
    const text = await documentText();
    assert.match(
      text,
      /^integration: dune-house\nconnector: hospitable\nbrand_id: "DUNE-HOUSE"\ntimezone: Europe\/Lisbon\npaused: true\n/,
    );
    assert.match(text, /token: "\$\{secret:dune-house-hospitable-token\}"/);
    assert.match(
      text,
      /post_stay: \{ every: 60m, range: \[-60d, -1d\] \}\npush: \{ enabled: true \}\ndeliver: \[lake\]/,
    );
    await page.getByRole('button', { name: 'Apply' }).click();
    await page
      .getByRole('button', { name: /Start pulling|Dry run/ })
      .first()
      .waitFor();
  });

  test('OAuth 2 with consent: form, consent link, and confirmation', async () => {
    await begin('harbour', partner.baseUrl);
    await choose(/authorization code/);
    await page.getByLabel('Token URL').fill(`${partner.baseUrl}/oauth/token`);
    await page.getByLabel('Client ID').fill('innbound');
    await page.getByLabel('Client secret').fill('between us');
    await page.getByLabel('Authorize URL').fill(`${partner.baseUrl}/oauth/authorize`);
    await page.getByRole('button', { name: 'Next' }).click();
    const text = await documentText();
    assert.match(text, /grant: authorization_code/);
    assert.match(text, /client_secret: "\$\{secret:harbour-client-secret\}"/);
    assert.ok(!text.includes('between us'));
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Create the link' }).click();
    const link = await textOf(page.getByRole('region', { name: 'consent link' }));
    const back = await fetch(link);
    assert.equal(back.status, 200, await back.text());
    await page.getByText('Consent was given').waitFor();
  });

  test('signed requests: only values that differ from the defaults are written', async () => {
    await begin('signed', partner.baseUrl);
    await choose(/HMAC/);
    await page.getByRole('textbox', { name: 'Secret' }).fill('hush');
    await page.getByText('Advanced').click();
    await page.getByLabel('Headers').fill('X-Sig: {signature}\nX-Time: {timestamp}');
    await page.getByRole('button', { name: 'Next' }).click();
    const text = await documentText();
    assert.match(
      text,
      /type: hmac\n {4}secret: "\$\{secret:signed-secret\}"\n {4}headers:\n {6}X-Sig: "\{signature\}"/,
    );
    assert.doesNotMatch(text, /algorithm|encoding|sign:|hush/);
  });

  test('custom values: each is stored as a secret that the document refers to', async () => {
    await begin('custom', partner.baseUrl);
    await choose(/headers, query or body/);
    await page.getByLabel('Headers').fill('X-Tenant: blue\nX-Pass: hush');
    await page.getByRole('button', { name: 'Next' }).click();
    assert.match(await documentText(), /X-Pass: "\$\{secret:custom-headers-x-pass\}"/);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('link', { name: 'Open custom' }).waitFor();
    const { items } = await setup.api<{ items: { name: string }[] }>('GET', '/secrets');
    assert.ok(items.some(({ name }) => name === 'custom-headers-x-tenant'));
  });

  test('a shipped connector is offered; the connection is tested before pulling starts', async () => {
    const hotel = await startSimulator({ seed: 4, reservations: 20, auth: { type: 'bearer', token: 'open sesame' } });
    try {
      await begin('tested', hotel.baseUrl, /^Reference partner .list in an envelope/);
      await page.getByLabel('Token').fill('not sesame');
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('button', { name: 'Test the connection' }).click();
      await page
        .getByRole('alert')
        .getByText(/pull\.\w+/)
        .waitFor();
      const failed = await textOf(page.locator('.card', { hasText: 'Last request' }).last());
      assert.match(failed, /GET http.*\/api\/reservations.*401 after \d+ ms/s, 'the request and the answer are shown');
      assert.ok(!failed.includes('sesame'));
      const state = async () =>
        (await setup.api<{ state: string; reasons: string[] }>('GET', '/integrations/tested')).state;
      assert.equal(await state(), 'paused', 'a failed test is no failure of a brand that was never started');
      // Back to the form: the token is asked for again, and the rest is still there.
      await page.getByRole('button', { name: 'Correct the address or the credentials' }).click();
      assert.equal(await page.getByLabel('Base URL').inputValue(), hotel.baseUrl);
      await page.getByLabel('Token').fill('open sesame');
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('button', { name: 'Test the connection' }).click();
      await page.getByText('The partner answered', { exact: true }).waitFor();
      await page.getByRole('region', { name: 'Answer' }).waitFor();
      await dryRun();
      const runs = await setup.api<{ items: unknown[] }>('GET', '/runs?integration=tested');
      assert.deepEqual(runs.items, [], 'nothing was pulled before the start');
      await page.getByRole('button', { name: 'Start pulling' }).click();
      await page.getByRole('row', { name: /Stay/ }).getByText('Complete').first().waitFor();
    } finally {
      await hotel.stop();
    }
  });

  test('from an API description to a complete run, also over a reload', async () => {
    const hotel = await startSimulator({ seed: 5, reservations: 20, auth: { type: 'bearer', token: 'open sesame' } });
    try {
      await go(page, '/onboard');
      await page.getByRole('button', { name: /Start over|Connect another brand/ }).click();
      await page.getByText('An API description', { exact: true }).click();
      await page.getByLabel('Name of the system').fill('hotel');
      await page.getByText('A connector has this name already').waitFor();
      await page.getByLabel('Name of the system').fill('cove-pms');
      const buffer = Buffer.from(JSON.stringify(description(hotel.baseUrl)));
      const file = { name: 'cove.json', mimeType: 'application/json', buffer };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('button', { name: 'Next', disabled: false }).click();
      await fillBrand('cove');
      await page.getByRole('button', { name: 'Save cove-pms and continue' }).click();
      assert.equal(await page.getByLabel('Base URL').inputValue(), hotel.baseUrl);
      await fillFeeds(hotel.baseUrl);
      await page.getByLabel('Token').fill('open sesame');
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('button', { name: 'Test the connection' }).waitFor();
      await page.reload();
      await page.getByRole('button', { name: 'Test the connection' }).click();
      await dryRun();
      await page.getByRole('button', { name: 'Start pulling' }).click();
      await page.getByRole('row', { name: /Stay/ }).getByText('Complete').first().waitFor();
      await page.getByRole('link', { name: 'Open cove' }).click();
      await page.getByRole('heading', { name: 'cove' }).waitFor();
    } finally {
      await hotel.stop();
    }
  });

  test('an event shows its payload, and opening it is audited', async () => {
    await setup.push('grand', { event: 'reservation.created', event_id: 'e1', data: booking('R1') });
    await page.getByRole('link', { name: 'Events' }).first().click();
    await page.getByRole('link', { name: 'reservation.created' }).click();
    await page.getByRole('region', { name: 'Payload' }).getByText('"INÊS"').waitFor();
    const { items } = await setup.api<{ items: { integration: string }[] }>('GET', '/audit?action=events.get');
    assert.equal(items[0]?.integration, 'grand');
  });

  test('sandbox reports are listed and open with the reason', async () => {
    const { sandbox_url: url } = await setup.api<{ sandbox_url: string }>('GET', '/integrations/grand/endpoint');
    const body = JSON.stringify({ event: 'reservation.created', event_id: 'try-1', data: booking('R9') });
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': 'sha512=00' };
    await fetch(url, { method: 'POST', headers, body });
    await go(page, '/integrations/grand?tab=push');
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Sandbox' }) });
    await card.getByText('Invalid').waitFor();
    await card.getByRole('button', { name: 'reservation.created' }).click();
    const report = page.getByRole('dialog', { name: 'Sandbox report' });
    await report.getByText('The live endpoint would answer 401').waitFor();
    assert.match(await textOf(report), /\/brand_id/);
    await page.keyboard.press('Escape');
    await report.waitFor({ state: 'detached' });
  });

  test('an endpoint is retired only after the brand’s name is typed', async () => {
    const { url } = await setup.api<{ url: string }>('GET', '/integrations/grand/endpoint');
    await page.getByRole('button', { name: 'Retire the endpoint' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retire the endpoint' });
    assert.ok(await dialog.getByRole('button', { name: 'Retire', exact: true }).isDisabled());
    await dialog.getByLabel(/to confirm/).fill('grand');
    await dialog.getByRole('button', { name: 'Retire', exact: true }).click();
    await page.getByRole('button', { name: 'Issue the endpoint' }).waitFor();
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    assert.equal(answer.status, 410);
  });

  test('the browser reported no error', () => {
    // 404: a brand without an endpoint. 409: the connection that was tested with a wrong token.
    const errors = setup.complaints.filter((text) => !/404|409/.test(text));
    assert.deepEqual(errors, []);
  });
});

/** What the partner publishes about its list of reservations. */
const description = (url: string) => {
  const text = { type: 'string' };
  const day = { type: 'string', format: 'date' };
  const list = (properties: object) => ({ type: 'array', items: { type: 'object', properties } });
  const guest = { guest_id: text, first_name: text, last_name: text, email: text, phone: text };
  const reservation = { id: text, check_in: day, check_out: day, status: text, guests: list(guest) };
  const schema = { type: 'object', properties: { reservations: list(reservation), total: { type: 'integer' } } };
  const query = (name: string, schema: object) => ({ name, in: 'query', schema });
  return {
    openapi: '3.0.3',
    info: { title: 'Cove PMS', version: '1' },
    servers: [{ url }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths: {
      '/api/reservations': {
        get: {
          summary: 'List reservations',
          parameters: [query('dateFrom', day), query('dateTo', day)],
          responses: { 200: { description: 'A page', content: { 'application/json': { schema } } } },
        },
      },
    },
  };
};
