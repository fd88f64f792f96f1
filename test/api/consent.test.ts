import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Simulator, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { type ApiNode, apiNode, live } from './node.ts';

/** A person of the brand follows the link and consents at the partner; from then on the partner accepts our requests. */

let partner: Simulator;
let node: ApiNode;
let admin: string;
before(async () => {
  const auth = { type: 'oauth2', clientId: 'innbound', clientSecret: 'between us', autoApprove: true } as const;
  partner = await startSimulator({ seed: 3, reservations: 20, auth });
  node = await apiNode('', {
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
pull:
  base_url: ${partner.baseUrl}
  auth:
    type: oauth2
    grant: authorization_code
    client_id: innbound
    client_secret: between us
    token_url: ${partner.baseUrl}/oauth/token
    authorize_url: ${partner.baseUrl}/oauth/authorize
  syncs: { pre_stay: { every: 15m, range: [+1d, +7d] } }
deliver: [lake]
`,
  });
  admin = await node.token('admin');
});
after(async () => {
  await node.stop();
  await partner.stop();
});

const sample = () => node.call('POST', '/integrations/grand/sample', admin, {});

test('without authorization the partner refuses', async () => {
  assert.equal((await sample()).status, 409);
});

test('the link leads through the partner back to us, and then reservations can be fetched', async () => {
  await live(node);
  const link = await node.call('POST', '/integrations/grand/consent', admin, {});
  assert.equal(link.status, 200, JSON.stringify(link.body));
  const back = await fetch(link.body.url, { redirect: 'follow' });
  assert.equal(back.status, 200);
  assert.match(back.url, new RegExp(`^${node.url}/oauth/callback`));
  assert.match(await back.text(), /Access was granted/);
  const page = await sample();
  assert.equal(page.status, 200, JSON.stringify(page.body));
  assert.ok(JSON.parse(page.body.sample).reservations);
  assert.equal((await fetch(back.url)).status, 400, 'a link works once');
});

test('an unexpected callback is refused; an integration without the grant has no link', async () => {
  const stray = await fetch(`${node.url}/oauth/callback?state=guess&code=x`);
  assert.equal(stray.status, 400);
  assert.ok(!(await stray.text()).includes('guess'));
  const other = await node.call('POST', '/integrations/other/consent', admin, {});
  assert.equal(other.body.code, 'pull.consent_refused');
});
