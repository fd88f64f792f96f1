import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import { listen, type Reply } from '../../http-server.ts';
import { services } from '../../support.ts';
import { type Account, Refusal } from '../../vendors/account.ts';
import { brevoAccount } from '../../vendors/brevo.ts';
import { dynamicsAccount } from '../../vendors/dynamics.ts';
import { hubspotAccount } from '../../vendors/hubspot.ts';
import { klaviyoAccount } from '../../vendors/klaviyo.ts';
import { mailchimpAccount } from '../../vendors/mailchimp.ts';
import { salesforceAccount } from '../../vendors/salesforce.ts';

async function at(t: TestContext, account: Account, instead?: (path: string) => Reply | undefined) {
  const refusals: string[] = [];
  const server = await listen((request) => {
    try {
      return instead?.(request.path) ?? account.answer(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals.push(error.message);
      return { status: 400, body: { message: error.message } };
    }
  });
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = http.settings.parse({ preset: account.preset, with: account.variables(server.url) });
  const prepare = async (dryRun: boolean) => {
    const prepared = await http.prepare?.(settings, offered, { dryRun });
    assert.ok(prepared);
    return { ...prepared, results: new Set(prepared.steps.map(({ result }) => result)) };
  };
  return { prepare, refusals, received: server.received };
}

const accounts = { brevoAccount, dynamicsAccount, hubspotAccount, klaviyoAccount, mailchimpAccount };

for (const make of Object.values(accounts)) {
  const account = make();
  test(`${account.preset}: prepare creates what is missing, once, and a dry run nothing`, async (t) => {
    const { prepare, refusals, received } = await at(t, account);
    const dry = await prepare(true);
    assert.deepEqual([...dry.results], ['would_create']);
    assert.ok(received.every(({ method }) => method === 'GET'));
    const first = await prepare(false);
    assert.deepEqual([...first.results], ['created']);
    assert.deepEqual(
      first.steps.map(({ what }) => what),
      dry.steps.map(({ what }) => what),
    );
    const second = await prepare(false);
    assert.deepEqual([...second.results], ['exists']);
    // What the vendor calls its things is printed by the first run as well as by later ones.
    assert.deepEqual(second.settings, { ...first.settings, ...second.settings });
    assert.ok(Object.keys(second.settings).length > 0);
    assert.deepEqual(refusals, []);
  });
}

test('hubspot: prepare gives the names that the account has for stays and events', async (t) => {
  const { prepare } = await at(t, hubspotAccount());
  const { settings } = await prepare(false);
  const expected = { prefix: 'innbound', stay_object: 'p4711_innbound_stay', event_prefix: 'pe4711_innbound' };
  assert.deepEqual(settings, expected);
});

test('salesforce: prepare stops at an object that only a person can create, and names it', async (t) => {
  const lacking = (path: string): Reply | undefined =>
    path.includes('Innbound_Stay__c/describe') ? { status: 404, body: [{ errorCode: 'NOT_FOUND' }] } : undefined;
  const { prepare } = await at(t, salesforceAccount(), lacking);
  const { steps, settings } = await prepare(false);
  assert.deepEqual(
    steps
      .filter(({ what }) => !/^field Contact\.Innbound_(?!Email)/.test(what))
      .map(({ what, result }) => [what, result]),
    [
      ['field Contact.Innbound_Email__c', 'created'],
      ['custom object Innbound_Stay__c', 'by_hand'],
    ],
  );
  assert.match(steps.at(-1)?.message ?? '', /Object Manager/);
  assert.deepEqual(settings, { contact_prefix: 'Innbound' });
});

test('prepare takes nothing but a name from the vendor', async (t) => {
  for (const name of [
    'p_stay\n  base_url: https://elsewhere.example',
    'a: b',
    '$' + '{env:HOME}',
    '\u001b[2J',
    'x'.repeat(300),
  ]) {
    const odd = (path: string): Reply | undefined =>
      path.includes('/schemas')
        ? {
            status: 200,
            body: { results: [{ name: 'innbound_stay', fullyQualifiedName: name }], fullyQualifiedName: name },
          }
        : undefined;
    const { prepare } = await at(t, hubspotAccount(), odd);
    const { steps, settings } = await prepare(false);
    assert.equal(steps.at(-1)?.result, 'failed', JSON.stringify(name));
    assert.ok(!JSON.stringify([steps, settings]).includes(JSON.stringify(name).slice(1, -1)), JSON.stringify(name));
  }
});

test('prepare stops at a refusal and shows what the vendor said', async (t) => {
  const refused = (path: string): Reply | undefined =>
    path.includes('/schemas')
      ? { status: 403, body: { message: 'missing scope crm.schemas.custom.write' } }
      : undefined;
  const { prepare } = await at(t, hubspotAccount(), refused);
  const { steps } = await prepare(false);
  assert.equal(steps.at(-1)?.result, 'failed');
  assert.match(steps.at(-1)?.message ?? '', /crm\.schemas\.custom\.write/);
});
