import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { browserFlags, requiredBrowser } from '../../scripts/prepare-browser.ts';
import { startProvider } from '../api/provider.ts';
import { type Desk, openDesk, skip } from './support/desk.ts';

/** Sign-in through an identity provider, in a browser: the cookies of the real flow over two hosts. */
describe('sign-in through an identity provider', { skip }, () => {
  let desk: Desk;
  let provider: Awaited<ReturnType<typeof startProvider>>;
  before(async () => {
    provider = await startProvider(() => ({ sub: 'u-1', claims: { name: 'Grace', groups: ['desk'] } }));
    desk = await openDesk({
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
    provider.allow(`${desk.url}/sign-in/callback`);
  });
  after(async () => {
    await desk?.stop();
    await provider?.stop();
  });

  test('the button leads to the provider and back into the console; ending all sessions signs out everywhere', async () => {
    const browser = await chromium.launch({ executablePath: requiredBrowser(), args: [...browserFlags] });
    try {
      const enter = async () => {
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${desk.url}/sign-in`);
        await page.getByRole('button', { name: 'Sign in with Acme' }).click();
        await page.getByRole('heading', { name: 'Overview' }).waitFor();
        await page.getByTitle('Grace').waitFor();
        return page;
      };
      const [here, there] = [await enter(), await enter()];
      // The provider is another port of the same host, so its cookies are listed too.
      const cookies = (await here.context().cookies(desk.url)).filter(({ name }) => name.startsWith('innbound'));
      assert.deepEqual(
        cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
        [['innbound_session', true, 'Strict']],
      );
      await here.getByRole('button', { name: 'Sign out everywhere' }).click();
      await here.waitForURL('**/sign-in');
      await there.goto(`${desk.url}/runs`);
      await there.waitForURL('**/sign-in');
    } finally {
      await browser.close();
    }
  });
});
