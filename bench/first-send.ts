import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { listen } from '../test/deliver/http-server.ts';
import { type Account, Refusal } from '../test/deliver/vendors/account.ts';
import { accounts } from '../test/deliver/vendors/all.ts';
import { limited, type Window } from '../test/deliver/vendors/limited.ts';
import { innbound, serve, until } from '../test/support/process.ts';
import { writeDocuments } from './push/workspace.ts';

interface Published {
  readonly windows?: readonly Window[];
  /** What the vendor counts together; each endpoint by default. */
  readonly scope?: string;
  readonly simultaneous?: number;
}

/** What the vendors publish. Salesforce counts by the day: 15,000 calls in the smallest edition. */
const published: Readonly<Record<string, Published>> = {
  klaviyo: {
    windows: [
      { requests: 75, perMs: 1_000 },
      { requests: 700, perMs: 60_000 },
    ],
  },
  brevo: { windows: [{ requests: 10, perMs: 1_000 }], scope: 'contacts' },
  hubspot: { windows: [{ requests: 100, perMs: 10_000 }], scope: 'account' },
  braze: { windows: [{ requests: 3_000, perMs: 3_000 }] },
  dynamics: { windows: [{ requests: 6_000, perMs: 300_000 }], scope: 'account', simultaneous: 52 },
  mailchimp: { simultaneous: 10 },
  salesforce: { windows: [{ requests: 15_000, perMs: 86_400_000 }], scope: 'account', simultaneous: 25 },
};

/**
 * `first-send [GUESTS] [ANSWER_MS] [PRESET]`: a service pulls that many guests, each with a stay and a profile, previews and releases them to
 * simulated accounts that enforce their vendors' limits and take ANSWER_MS for an answer. In the middle the service is killed and started again.
 */
export async function run([count = '10000', answerMs = '100', only]: readonly string[]): Promise<void> {
  console.log('preset | guests | minutes | calls | of the preview | refused (429)');
  for (const make of accounts)
    if ([undefined, make().preset].includes(only)) await send(make, Number(count), Number(answerMs));
}

async function send(make: () => Account, count: number, answersAfterMs: number): Promise<void> {
  const { preset } = make();
  const { windows = [], scope, simultaneous } = published[preset] ?? {};
  const scopeOf = scope === undefined ? undefined : () => scope;
  const vendor = limited(make, windows, scopeOf, { answersAfterMs, ...(simultaneous && { simultaneous }) });
  const account = vendor.make();
  const crm = await listen((request) => {
    try {
      return account.answer(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 400, body: { message: error.message } };
    }
  });
  const partner = await listen(({ path: asked }) => {
    const from = Number(new URL(asked, 'http://partner').searchParams.get('offset'));
    const length = Math.max(0, Math.min(pageSize, count - from));
    return { status: 200, body: Array.from({ length }, (_, i) => booking(from + i)) };
  });
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-first-send-'));
  const command = async (...args: string[]) => {
    const { code, stdout, stderr, json } = await innbound([...args, '--json', '--workspace', dir], { env });
    assert.equal(code, 0, stdout + stderr);
    return json()[0] as Record<string, never>;
  };
  await writeDocuments(dir, documents(preset, partner.url, account.variables(crm.url)));
  let service = await serve(dir, { env });
  try {
    const { settings } = await command('destination', 'prepare', 'crm');
    await writeDocuments(dir, documents(preset, partner.url, { ...account.variables(crm.url), ...(settings ?? {}) }));
    await command('apply');
    await command('sync', 'grand', '--type', 'post_stay', '--from', day, '--to', day);
    const { token } = await command('token', 'create', '--role', 'operator');
    const waiting = async () => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${service.url}/api/v1/integrations/grand`, { headers });
      const { lanes } = (await answer.json()) as { lanes: { waiting: number; held: number }[] };
      return lanes[0]?.waiting as number;
    };
    await until('all bookings and profiles wait', async () => (await waiting()) === 2 * count, 3_600_000);
    const before = crm.received.length;
    const preview = await command('destination', 'release', 'crm', '-i', 'grand', '--preview');
    assert.equal(crm.received.length, before, 'nothing is sent before the release');
    await command('destination', 'release', 'crm', '-i', 'grand');
    const startedMs = performance.now();
    // In the middle of the bookings; the profiles follow.
    await until('half of the bookings is sent', async () => (await waiting()) <= 1.5 * count, 3_600_000);
    await service.kill();
    service = await serve(dir, { env });
    await until('all is sent', async () => (await waiting()) === 0, 3_600_000);
    const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
    const calls = crm.received.length - before;
    const people = account.people();
    assert.deepEqual([people.length, new Set(people.map(({ email }) => email)).size], [count, count]);
    assert.equal(people.filter(({ subscribed, first: named }) => subscribed === false || named !== 'Ana').length, 0);
    if (account.keepsStays) {
      const keys = account.stays().map(({ key }) => key);
      assert.deepEqual([keys.length, new Set(keys).size], [count, count]);
    }
    assert.equal((await command('dead-letters', 'list')) as unknown, undefined);
    console.log([preset, count, minutes, calls, JSON.stringify(preview.counts), vendor.refused()].join(' | '));
  } finally {
    await service.stop();
    await crm.close();
    await partner.close();
    await rm(dir, { recursive: true, force: true });
  }
}

const env = { CRM_TOKEN: 'token' };
const pageSize = 500;
const day = Temporal.Now.plainDateISO('UTC').subtract({ days: 3 }).toString();

function booking(i: number) {
  const phone = `+35191${String(i).padStart(7, '0')}`;
  const guest = { first_name: 'Ana', last_name: `Exemplo ${i}`, email: `g${i}@guests.example`, phone };
  const stay = { status: 'checked_out', booking_date: '2024-01-01', check_in: '2024-02-01', check_out: day };
  const money = { total_amount: 100, currency: 'EUR' };
  return { id: `r${i}`, ...stay, ...money, guests: [{ ...guest, marketing_consent: true }] };
}

const documents = (preset: string, partnerUrl: string, variables: Readonly<Record<string, string>>) => ({
  'connectors/pms.yaml': `connector: pms
pull:
  request: { path: /reservations, query: { from: "{window.from}", to: "{window.to}" } }
  pagination: { type: offset, offset: query.offset, limit: query.limit, page_size: ${pageSize} }
`,
  'destinations/crm.yaml': `destination: crm
type: http
preset: ${preset}
auth: { type: bearer, token: "\${env:CRM_TOKEN}" }
with: ${JSON.stringify(variables)}
receives: [reservation, guest]
consent: marketing
feedback: false
`,
  'integrations/grand.yaml': `integration: grand
connector: pms
brand_id: LIS01
timezone: UTC
country: PT
pull:
  base_url: ${partnerUrl}
  auth: { type: none }
  syncs: { post_stay: { every: 60m, range: [-7d, -1d] } }
deliver: [crm]
preview: [crm]
`,
});
