import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { openBrowser, skip } from './browser.ts';
import { openSetup, type Setup } from './support.ts';

/** A partner whose API is opened by consent: its authorization server shows a page on which somebody allows or denies. */
let setup: Setup;
let partner: Simulator;
before(async () => {
  if (skip) return;
  setup = await openSetup();
  const auth = { type: 'oauth2', clientId: 'innbound', clientSecret: 'between us' } as const;
  partner = await startSimulator({ seed: 3, reservations: 200, auth });
});
after(async () => {
  await setup?.stop();
  await partner?.stop();
});

/** The page of a new brand, with its form saved and access not granted yet. */
async function connected(t: TestContext, integration: string, language: 'en' | 'de' = 'en'): Promise<Page> {
  const brand = { brand_id: 'OAU01', timezone: 'Europe/Lisbon', deliver: [] };
  const { page } = await openBrowser(t, (await setup.link({ integration, asks: ['pull'], brand, language })).url);
  await page.locator('.form input[type=url]').fill(partner.baseUrl);
  await page.locator('.form select').first().selectOption('oauth2, authorization_code');
  const texts = page.locator('.form > label > input');
  for (const [at, text] of [
    [1, `${partner.baseUrl}/oauth/token`],
    [2, 'innbound'],
    [3, `${partner.baseUrl}/oauth/authorize`],
    [4, 'between us'],
  ] as const)
    await texts.nth(at).fill(text);
  const list = page.locator('.form fieldset input');
  await list.nth(0).fill('/api/reservations');
  await list.nth(1).fill('dateFrom');
  await list.nth(2).fill('dateTo');
  await page.locator('.form > button').click();
  await page.locator('.result .notice.bad', { hasText: 'pull.consent_needed' }).waitFor();
  return page;
}

const address = (page: Page) => page.evaluate('location.pathname + location.search') as Promise<string>;

test('consent, code, token, first pull: the partner comes back to the same page, which tests by itself', {
  skip,
}, async (t) => {
  const page = await connected(t, 'consented');
  const own = await address(page);
  await page.getByRole('button', { name: 'Grant access' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('It works').waitFor();
  assert.equal(await address(page), own, 'nothing of the consent stays in the address');
  await page.getByRole('heading', { name: 'How your API behaves' }).waitFor();
  assert.equal((await setup.operator('GET', '/onboarding-links')).body.items[0].is_complete, true);
  await page.getByRole('button', { name: 'Replace them' }).click();
  assert.equal(await page.getByLabel('How we sign in').inputValue(), 'oauth2, authorization_code');
});

test('a refusal is said in the language of the page, and can be repaired there', { skip }, async (t) => {
  const page = await connected(t, 'refused', 'de');
  await page.getByRole('button', { name: 'Zugang gewähren' }).click();
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('Der Zugang wurde nicht gewährt').waitFor();
  await page.getByRole('button', { name: 'Zugang gewähren' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('Es klappt').waitFor();
});

test('a forged or repeated answer grants nothing and leads nowhere', { skip }, async (t) => {
  const page = await connected(t, 'forged');
  const consented = page.waitForRequest((one) => one.url().includes('/oauth/authorize'));
  await page.getByRole('button', { name: 'Grant access' }).click();
  const state = new URL((await consented).url()).searchParams.get('state') ?? '';
  const answer = (given: string, code: string) =>
    fetch(`${setup.service.url}/oauth/callback?state=${given}&code=${code}`, { redirect: 'manual' });
  const forged = await answer('guessed', 'stolen');
  assert.deepEqual([forged.status, forged.headers.get('location')], [400, null]);
  assert.match(await forged.text(), /Access was not granted/);
  const wrong = await answer(state, 'stolen');
  assert.match(wrong.headers.get('location') ?? '', /^\/connect\/onb_\w+\?access=refused$/);
  assert.equal((await answer(state, 'stolen')).status, 400, 'a state counts once');
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Access was not granted' }).waitFor();
});

test('consent that comes after the approval changes nothing of the live brand', { skip }, async (t) => {
  const page = await connected(t, 'late');
  await page.getByRole('button', { name: 'Grant access' }).click();
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  const { items } = (await setup.operator('GET', '/onboarding-links?integration=late')).body;
  const approved = await setup.operator('POST', `/onboarding-links/${items[0].link_id}/approve`, {
    anyway: true,
    deliver: [],
  });
  assert.equal(approved.status, 200);
  const answered = page.waitForResponse((one) => one.url().includes('/oauth/callback'));
  await page.getByRole('button', { name: 'Allow' }).click();
  assert.match((await answered).headers().location ?? '', /access=refused$/);
  const { rows } = await setup.service.runtime.pool.query(
    `select from partner_accounts where integration = 'late' and access is not null`,
  );
  assert.equal(rows.length, 0);
});
