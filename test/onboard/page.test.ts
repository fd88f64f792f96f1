import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { consoleDist } from '../../console/build.ts';
import { en } from '../../console/partner/texts/en.ts';
import { behaviourRules } from '../../packages/partner-kit/src/check/api.ts';
import integrationSchema from '../../schemas/integration.json' with { type: 'json' };
import { errors } from '../../src/errors.ts';
import { createSignIn } from '../../src/operator/operations/tokens.ts';
import { barriers } from '../console/support/look.ts';
import { openBrowser, skip } from './browser.ts';
import { event, openSetup, type Setup, send } from './support.ts';
import { startUnseenSystem, type UnseenSystem } from './unseen-system.ts';

let setup: Setup;
let system: UnseenSystem;
before(async () => {
  if (skip) return;
  [setup, system] = [await openSetup(), await startUnseenSystem()];
});
after(async () => {
  await setup?.stop();
  await system?.stop();
});

const brand = (name: string) => ({
  integration: name,
  brand: { brand_id: 'HAR01', timezone: 'Europe/Lisbon', country: 'PT', deliver: ['lake'] },
});
/** `ONBOARD_PICTURES=docs/images` takes the pictures of the guides anew. */
const pictures = process.env.ONBOARD_PICTURES;
const picture = async (page: Page, name: string, top?: string) => {
  if (pictures === undefined) return;
  const heading = page.getByRole('heading', { name: top ?? '' }).first();
  if (top !== undefined) await heading.evaluate((one: unknown) => (one as { scrollIntoView(): void }).scrollIntoView());
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
};
const textOf = async (place: Locator) => ((await place.textContent()) ?? '').trim();
const shownSecret = (page: Page) => textOf(page.locator('.copyable code', { hasText: 'whsec_' }));
const latest = (page: Page) => page.locator('.request').first();
/** The verdict on the request that was sent last. */
const verdict = async (page: Page, id: string, headline: RegExp) => {
  const request = page.locator('.request', { hasText: id }).first();
  await request.filter({ hasText: headline }).waitFor();
  return request;
};

test('a developer who knows only the page connects events and an unseen API; the operator only approves', {
  skip,
}, async (t) => {
  const link = await setup.link(brand('trial-hotel'));
  const { page, complaints } = await openBrowser(t, link.url);
  await page.getByRole('heading', { name: 'Connect HAR01' }).waitFor();
  assert.equal(new URL(page.url()).hash, '', 'the token is not in the address any more');

  // Events, with three mistakes on the way.
  await page.getByRole('button', { name: 'Show the secret' }).click();
  const secret = await shownSecret(page);
  const url = await textOf(page.locator('.copyable code').first());
  await send(url, `${secret} `, event('first', 'reservation.created'));
  await verdict(page, 'first', /Signed with a wrong secret/);
  await send(url, secret, event('second', 'reservation.created'), (one) => ({
    ...one,
    headers: { ...one.headers, 'X-Webhook-Timestamp': String(Date.now()) },
  }));
  await (await verdict(page, 'second', /The time is wrong/)).getByText('not milliseconds').waitFor();
  await send(url, secret, event('third', 'reservation.created', {}, { reservation_id: undefined }));
  await verdict(page, 'third', /cannot become a booking/);
  await picture(page, 'partner-page', 'What arrived');
  for (const [id, type] of [
    ['e1', 'reservation.created'],
    ['e2', 'reservation.updated'],
    ['e3', 'reservation.cancelled'],
    ['e3', 'reservation.cancelled'],
    ['e4', 'guest.updated'],
  ] as const) {
    await send(url, secret, event(id, type));
  }
  await verdict(page, 'e3', /duplicate/);
  await page.getByRole('button', { name: 'Test my retries' }).click();
  await page.getByText('Attempts so far: 0 of 3').waitFor();
  const listed = {
    reservation_id: 'HB-1003',
    check_in: system.arrivalOf('HB-1003'),
    check_out: undefined,
    guests: [{ first_name: 'Tomás', last_name: 'Reis', email: 'guest3@letters.example' }],
    stays: [{ room_type: 'DBL', board_type: 'BB', adults: 2, children: 0 }],
  };
  const retried = event(
    'again',
    'reservation.updated',
    {},
    { ...listed, check_out: system.departureOf('HB-1003'), status: system.statusOf('HB-1003') },
  );
  assert.equal((await send(url, secret, retried)).status, 500);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal((await send(url, secret, retried)).status, 500);
  await new Promise((resolve) => setTimeout(resolve, 2_200));
  assert.equal((await send(url, secret, retried)).status, 202);

  // The API.
  await page.getByLabel('Base URL of your API').fill(system.url);
  await page.getByLabel(/^Token/).fill('not the token');
  await page.getByLabel(/^Path/).fill('/v2/bookings');
  await page.getByLabel('Parameter of the first day').fill('arrivalFrom');
  await page.getByLabel('Parameter of the last day').fill('arrivalTo');
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.getByText('Your API refuses the credentials').first().waitFor();
  await page.getByRole('button', { name: 'Replace them' }).click();
  await page.getByLabel(/^Token/).fill(system.token);
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.getByText('It works').waitFor();
  await page.getByRole('heading', { name: 'How your API behaves' }).waitFor();
  assert.equal(
    await page.getByLabel('Parameter of the cursor').inputValue(),
    'cursor',
    'the form has what was found out',
  );
  const row = page.locator('tr', { hasText: 'room: rate' });
  await row.getByRole('button', { name: 'This is right' }).click();
  await row.getByText('confirmed').waitFor();
  await row.getByRole('button', { name: 'Comment' }).click();
  await row.getByRole('textbox').fill('This is the rate code.');
  await row.getByRole('button', { name: 'Send' }).click();
  await row.getByText('This is the rate code.').waitFor();

  // The checklist is complete, and the partner is ready.
  await page.getByText('Everything has been shown.').waitFor();
  await page.getByRole('button', { name: 'We are ready' }).click();
  await page.getByText('You said that you are ready').waitFor();

  // The operator looks and approves in the console.
  const { path: signIn } = await createSignIn(setup.service.runtime, { name: 'Ada', by: 'test' });
  const operator = await openBrowser(t, `${setup.service.url}${signIn}`);
  await operator.page.getByRole('link', { name: 'Integrations' }).first().waitFor();
  await operator.page.goto(`${setup.service.url}/integrations/trial-hotel?tab=onboarding`);
  await operator.page.getByText('Ready: waits for you').waitFor();
  await operator.page.getByRole('button', { name: 'Harbour PMS' }).click();
  await operator.page.getByText('Changes of the connector trial-hotel').click();
  await operator.page.getByText('rate_code: ratePlanCode').waitFor();
  await picture(operator.page, 'console-onboarding');
  await operator.page.getByLabel('Answer').fill('Thank you, welcome.');
  await operator.page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Thank you, welcome.').first().waitFor();
  await operator.page.getByRole('button', { name: 'Look and approve …' }).click();
  await operator.page.getByRole('heading', { name: '3 bookings as they will be delivered' }).waitFor();
  await operator.page.getByText('Delivers to lake, in preview until you release it.').waitFor();
  await operator.page.getByRole('button', { name: 'Approve: go live' }).click();
  await operator.page.getByText('For lake they wait until you release them.').waitFor();

  await page.getByText('The hotel is live').first().waitFor();
  await page.getByText('complete · bookings: 70').waitFor({ timeout: 60_000 });
  assert.equal((await send(url, secret, event('live', 'reservation.created'))).status, 202);
  await send(url, 'x'.repeat(40), event('live', 'reservation.created'));
  await page.locator('.problems').getByText('wrong signature').waitFor();
  assert.deepEqual(complaints, []);
});

test('the page works on a phone, without a sideways scroll, for everybody', { skip }, async (t) => {
  for (const scheme of ['light', 'dark'] as const) {
    const link = await setup.link(brand(`phone-${scheme}`));
    const { page, complaints } = await openBrowser(t, link.url, { phone: true, scheme });
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByRole('button', { name: 'Show me a good one' }).click();
    await latest(page).getByText('our sample').waitFor();
    await latest(page).locator('summary').click();
    await page.getByText('Code that sends an event').click();
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= 390);
    if (scheme === 'light') await picture(page, 'partner-page-phone', 'What arrived');
    assert.deepEqual(await barriers(page), []);
    assert.deepEqual(complaints, []);
  }
});

/** What the service and the page say in English; a page in another language says none of it. */
const english = new Set(
  [
    ...Object.values(errors).flatMap(({ what, next }) => [what, next]),
    ...behaviourRules.flatMap(({ title, change }) => [title, change]),
    ...sentencesIn(en),
    ...[...JSON.stringify(integrationSchema.properties.pull.properties.auth).matchAll(/"description":"([^"]+)"/g)].map(
      ([, text = '']) => text.replaceAll('`', ''),
    ),
  ].filter((text) => / .* /.test(text)),
);
function sentencesIn(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/(?<=[.!?]) /);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(sentencesIn) : [];
}
/** All texts, also folded ones, except what is marked as English and code. */
const ownTexts = `[...document.querySelectorAll('main *, nav *')]
  .filter((one) => !one.closest('[lang=en], code, pre'))
  .flatMap((one) => [...one.childNodes, ...one.attributes].filter(({ nodeType }) => nodeType < 4).map(({ nodeValue }) => nodeValue?.trim() ?? ''))`;

test('the link chooses the language', { skip }, async (t) => {
  for (const [language, title] of [
    ['pt', 'Ligar HAR01'],
    ['de', 'HAR01 anbinden'],
    ['es', 'Conectar HAR01'],
    ['fr', 'Connecter HAR01'],
  ] as const) {
    const link = await setup.link({ ...brand(`speaks-${language}`), language });
    const { page } = await openBrowser(t, link.url);
    await page.getByRole('heading', { name: title }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.lang'), language);
  }
});

// In one language: texts.test.ts holds the texts of all of them together.
test('everything that the page says is in its language, also about mistakes', { skip }, async (t) => {
  const faulty = await startUnseenSystem({ repeats: true, anyDates: true });
  try {
    const link = await setup.link({ ...brand('faults-in-german'), language: 'de' });
    const { page } = await openBrowser(t, link.url);
    await page.getByRole('heading', { name: 'HAR01 anbinden' }).waitFor();
    const said = new Set<string>();
    const listen = async () => {
      for (const text of (await page.evaluate(ownTexts)) as string[]) said.add(text);
    };
    // Every way to sign in.
    const ways = page.locator('.form select').first();
    for (const way of await ways.locator('option').all()) {
      await ways.selectOption((await way.getAttribute('value')) ?? '');
      await listen();
    }
    // Every mistake of an event.
    await page.locator('#push .no-print button').first().click();
    const secret = await shownSecret(page);
    const url = await textOf(page.locator('.copyable code').first());
    await send(url, `${secret} `, event('m1', 'reservation.created'));
    await send(url, secret, event('m2', 'reservation.created'), (one) => ({
      ...one,
      headers: { ...one.headers, 'X-Webhook-Timestamp': String(Date.now()) },
    }));
    await send(url, secret, event('m3', 'reservation.created', {}, { reservation_id: undefined }));
    await send(url, secret, event('m4', 'reservation.created', { brand_id: 'X', timestamp: 'now' }));
    await send(url, secret, event('m5', 'reservation.created', {}, { status: 'maybe' }));
    await send(url, secret, event('m6', 'reservation.updated', {}, { check_in: undefined, check_out: undefined }));
    const untidy = {
      first_name: 'INÊS',
      last_name: 'DR. DUARTE',
      email: ' Ines@letters.example',
      phone: '912 345 678',
    };
    await send(url, secret, event('m7', 'reservation.created', {}, { guests: [untidy] }));
    await send(url, secret, event('m8', 'guest.updated'));
    await send(url, secret, event('m9', 'reservation.created'), (one) => ({
      ...one,
      headers: { ...one.headers, 'Content-Type': 'text/plain' },
    }));
    await page.locator('.request', { hasText: 'm8' }).waitFor();
    await listen();
    // An API that is not there, one that refuses, one with faults.
    const fill = async (base: string, token: string) => {
      await page.locator('.form input[type=url]').fill(base);
      const replace = page.locator('.form button.quiet');
      if (await replace.isVisible()) await replace.click();
      await ways.selectOption('bearer');
      await page.locator('.form input[type=password]').fill(token);
      await page.locator('.form fieldset input').nth(0).fill('/v2/bookings');
      await page.locator('.form fieldset input').nth(1).fill('arrivalFrom');
      await page.locator('.form fieldset input').nth(2).fill('arrivalTo');
      await page.locator('.form > button').click();
    };
    await fill('http://127.0.0.1:1', 'x');
    await page.locator('.result .notice.bad').waitFor();
    await listen();
    await fill(faulty.url, 'wrong');
    await page.locator('.result .notice', { hasText: 'pull.auth_failed' }).waitFor();
    await listen();
    await fill(faulty.url, `\${env:HOME}`);
    await page.locator('.failure').waitFor();
    await listen();
    await page.locator('.form input[type=password]').fill(faulty.token);
    await page.locator('.form > button').click();
    await page.locator('.rules .wrong').first().waitFor();
    await listen();
    assert.deepEqual(
      [...said].filter((text) => [...english].some((one) => text.includes(one))),
      [],
    );
    assert.doesNotMatch(
      [...said].join(' '),
      /\{(?!timestamp|nonce|method|path|host|query|body|signature|token)\w+\}|undefined/,
    );
  } finally {
    await faulty.stop();
  }
});

test('bad, expired, revoked and borrowed links get a clear page', { skip }, async (t) => {
  const link = await setup.link(brand('closed-hotel'));
  const title = async (url: string) => textOf((await openBrowser(t, url)).page.getByRole('heading'));
  assert.equal(await title(`${setup.service.url}/connect/onb_nothing#${'x'.repeat(43)}`), 'This link is not valid');
  assert.equal(await title(`${setup.service.url}/connect/${link.linkId}`), 'This link is not valid');
  const { page } = await openBrowser(t, link.url);
  await page.getByRole('heading', { name: 'Connect HAR01' }).waitFor();
  assert.equal(await title(link.url), 'This link is in use in another browser');
  await page.reload();
  await page.getByRole('heading', { name: 'Connect HAR01' }).waitFor();
  await setup.operator('DELETE', `/onboarding-links/${link.linkId}`);
  await page.getByRole('heading', { name: 'This link was withdrawn' }).waitFor();
  assert.equal(await title(link.url), 'This link was withdrawn');
});

test('a page that is open when its link ends says why, in its language, whatever is clicked', { skip }, async (t) => {
  const expire = (linkId: string) =>
    setup.service.runtime.pool.query('update onboarding_links set expires_at = now() where link_id = $1', [linkId]);
  const link = await setup.link({ ...brand('ending-hotel'), language: 'de' });
  const { page } = await openBrowser(t, link.url);
  await page.getByRole('button', { name: 'Geheimnis zeigen' }).click();
  const secret = await shownSecret(page);
  await expire(link.linkId);
  // On a busy machine the page may have found out by itself, and the button is gone.
  await page
    .getByRole('button', { name: 'Ein gutes Beispiel zeigen' })
    .click({ timeout: 5_000 })
    .catch(() => {});
  await page.getByRole('heading', { name: 'Dieser Link ist abgelaufen' }).waitFor();
  assert.equal((await page.content()).includes(secret), false);

  const resting = await setup.link({ ...brand('resting-hotel'), language: 'fr' });
  const { page: other } = await openBrowser(t, 'about:blank#').then(async (look) => {
    await look.page.clock.install();
    await look.page.goto(resting.url);
    return look;
  });
  await other.getByRole('heading', { name: 'Connecter HAR01' }).waitFor();
  await expire(resting.linkId);
  await other.clock.fastForward('24:00:00');
  await other.getByRole('button', { name: 'Continuer' }).click();
  await other.getByRole('heading', { name: 'Ce lien a expiré' }).waitFor();
});

test('a page left open rests, and has no secret on it', { skip }, async (t) => {
  const link = await setup.link(brand('sleepy-hotel'));
  const { page } = await openBrowser(t, 'about:blank#').then(async (look) => {
    await look.page.clock.install();
    await look.page.goto(link.url);
    return look;
  });
  await page.getByRole('button', { name: 'Show the secret' }).click();
  const secret = await shownSecret(page);
  assert.equal(
    String(await page.evaluate('JSON.stringify([localStorage, sessionStorage, history.state])')).includes(secret),
    false,
  );
  await page.clock.runFor('06:00');
  assert.equal((await page.content()).includes(secret), false, 'it disappears after five minutes');
  await page.clock.fastForward('24:00:00');
  await page.getByText('The page rests').waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Connect HAR01' }).waitFor();
});

test('the page is small, and has strict headers', { skip }, async (t) => {
  const { page, requested } = await openBrowser(t, (await setup.link(brand('small-hotel'))).url);
  await page.getByRole('heading', { name: 'Connect HAR01' }).waitFor();
  const assets = requested.filter((one) => one.startsWith('/assets/'));
  assert.ok(assets.length > 0 && assets.length < readdirSync(path.join(consoleDist, 'assets')).length / 4);
  const bytes = assets.map((one) => {
    const file = path.join(consoleDist, one);
    return statSync(`${file}.br`, { throwIfNoEntry: false })?.size ?? brotliCompressSync(readFileSync(file)).length;
  });
  const total = bytes.reduce((sum, one) => sum + one, 0);
  assert.ok(total < 120_000, `${total} bytes`);
  const { headers } = await fetch(page.url(), { headers: { accept: 'text/html' } });
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|nonce/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('cache-control'), 'no-store');
});
