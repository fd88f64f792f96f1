import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startProvider } from '../api/provider.ts';
import { until } from '../support/process.ts';
import { openSetup, openUserMenu, type Setup, skip } from './support/setup.ts';

/** Signing in and out, also through an identity provider; roles, and the content security policy. */
describe('access to the console', { skip }, () => {
  let setup: Setup;
  let provider: Awaited<ReturnType<typeof startProvider>>;
  before(async () => {
    provider = await startProvider(() => ({ sub: 'u-1', claims: { name: 'Grace', groups: ['desk'] } }));
    setup = await openSetup({
      'innbound.yaml': `network: { allow_private: true }
sign_in:
  oidc:
    issuer: ${provider.issuer}
    client_id: innbound
    client_secret: a-secret-of-the-client
    label: Sign in with Acme
    roles: { claim: groups, operator: [desk] }
`,
    });
    provider.allow(`${setup.url}/sign-in/callback`);
    await setup.api('POST', '/integrations/grand/endpoint', {});
  });
  after(async () => {
    await setup?.stop();
    await provider?.stop();
  });

  test('a link signs in once, and its token is removed from the address', async () => {
    const page = await setup.signIn();
    // The browser reports its address a moment after the page has changed.
    await page.waitForURL((url) => url.pathname === '/' && url.hash === '');
    await page.getByTitle('Ada, admin').waitFor();
    const link = await setup.link();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByText('already used').waitFor();
  });

  test('without a session every page leads to the sign-in page, also after signing out', async () => {
    const page = await setup.signIn();
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL('**/sign-in');
    await page.goto(`${setup.url}/dead-letters`);
    await page.waitForURL('**/sign-in');
    await page.getByText('bin/innbound token sign-in').waitFor();
  });

  test('the button leads to the identity provider and back; signing out everywhere ends all sessions', async () => {
    const enter = async () => {
      const page = await setup.stranger();
      await page.goto(`${setup.url}/sign-in`);
      await page.getByRole('button', { name: 'Sign in with Acme' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.getByTitle('Grace').waitFor();
      return page;
    };
    const [here, there] = [await enter(), await enter()];
    // The provider is another port of the same host, so its cookies are listed too.
    const cookies = (await here.context().cookies(setup.url)).filter(({ name }) => name.startsWith('innbound'));
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [['innbound_session', true, 'Strict']],
    );
    await openUserMenu(here);
    await here.getByRole('button', { name: 'Sign out everywhere' }).click();
    await here.waitForURL('**/sign-in');
    await there.goto(`${setup.url}/runs`);
    await there.waitForURL('**/sign-in');
  });

  test('who must sign in first comes to the page of the link then', async () => {
    const page = await setup.stranger();
    await page.goto(`${setup.url}/dead-letters?kind=delivery`);
    await page.getByLabel('Or paste a link or token').fill(await setup.link());
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Dead letters' }).first().waitFor();
    assert.equal(new URL(page.url()).search, '?kind=delivery');
    await page.goto(setup.url);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('a viewer does not see actions of other roles', async () => {
    const page = await setup.signIn({ role: 'viewer' });
    assert.equal(await page.getByRole('link', { name: 'Tokens' }).count(), 0);
    await page.goto(`${setup.url}/integrations/grand?tab=pull`);
    // Waits for the brand, not only for the page's head.
    await page.getByRole('heading', { name: 'Recent runs' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Run now' }).count(), 0);
  });

  test('a session for some brands is not led to pages that are refused to it', async () => {
    const page = await setup.signIn({ role: 'admin', integrations: ['grand'] });
    await page.goto(`${setup.url}/integrations/grand?tab=pull`);
    await page.getByRole('heading', { name: 'Recent runs' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'More' }).count(), 1);
    for (const name of ['Edit document', 'Documents', 'Mapping studio', 'Tokens', 'Privacy']) {
      assert.equal(await page.getByRole('link', { name }).count(), 0, name);
    }
  });

  test('a page says when the service does not answer, and nobody is signed out then', async () => {
    const page = await setup.stranger();
    await page.goto(await setup.link());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('No connection').waitFor();
    await page.getByText('The service does not answer').waitFor();
    await page.getByText(/It is tried again in \d+ s/).waitFor();
    assert.equal(await page.locator('.live[data-on="true"]').count(), 0, 'grey');
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are still signed in.').waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try now' }).first().click();
    await page.getByText('The service does not answer').waitFor({ state: 'detached' });
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('a slow service is called slow, not loading without end, and a page that was opened meanwhile comes by itself', async () => {
    const page = await setup.stranger();
    await page.goto(await setup.link());
    await page.getByText('Live', { exact: true }).waitFor();
    let delayMs = 3_000;
    await page.route('**/api/v1/**', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await route.continue().catch(() => {});
    });
    await page.getByText('Slow connection').waitFor();
    delayMs = 6_000;
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page
      .getByText(/The service answers slowly: nothing for \d+ s/)
      .first()
      .waitFor();
    delayMs = 0;
    await page.getByRole('table').first().waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.route('**/api/v1/**', (route) => route.abort());
    await page.reload();
    await page.getByText('It is tried again every few seconds.').waitFor();
    await page.unroute('**/api/v1/**');
    await page.getByText('Live', { exact: true }).waitFor();
  });

  test('a list that can no longer be read says so, though the rest of the service answers', async () => {
    const page = await setup.signIn();
    await page.goto(`${setup.url}/runs`);
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.getByText('Loading …').first().waitFor({ state: 'detached' });
    const look = () => page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    const answer = async (status: number, detail: string) => {
      await page.unrouteAll();
      await page.route('**/api/v1/runs?*', (route) => route.fulfill({ status, json: { code: 'x', detail } }));
      await until(detail, async () => {
        await look();
        return (await page.locator('.notice', { hasText: `${detail}This page may be outdated` }).count()) === 1;
      });
    };
    await answer(500, 'The list cannot be read.');
    await answer(401, 'The session has ended.');
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    setup.complaints.length = 0;
  });

  test('the policy forbids inline scripts, framing and other hosts', async () => {
    const answer = await fetch(`${setup.url}/runs`, { headers: { accept: 'text/html' } });
    const rules = answer.headers.get('content-security-policy') ?? '';
    assert.match(rules, /default-src 'none'/);
    assert.match(rules, /script-src 'self'(;|$)/);
    assert.match(rules, /frame-ancestors 'none'/);
    assert.doesNotMatch(rules, /unsafe/);
    const [, nonce] = /'nonce-([^']+)'/.exec(rules) ?? [];
    const again = await fetch(`${setup.url}/runs`, { headers: { accept: 'text/html' } });
    assert.ok(nonce && !again.headers.get('content-security-policy')?.includes(nonce), 'each page has its own nonce');
    const html = await answer.text();
    assert.ok(html.includes(nonce));
    const [asset = ''] = /\/assets\/[\w.-]+\.js/.exec(html) ?? [];
    const script = await fetch(`${setup.url}${asset}`);
    assert.match(script.headers.get('cache-control') ?? '', /immutable/);
  });

  test('addresses that are not pages answer with a problem document', async () => {
    const html = { headers: { accept: 'text/html' } };
    for (const [at, init] of [
      ['/api/v1/nothing', html],
      ['/assets/none.js', html],
      ['/webhooks', html],
      ['/runs', {}],
    ] as const) {
      const answer = await fetch(`${setup.url}${at}`, init);
      assert.equal(answer.status, 404, at);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/, at);
    }
    const traversal = await fetch(`${setup.url}/assets/..%2f..%2fbuild.ts`, html);
    assert.equal(traversal.status, 404);
  });

  test('the browser reported no error', () => {
    const real = setup.complaints.filter((text) => !text.includes('401'));
    assert.deepEqual(real, []);
  });
});
