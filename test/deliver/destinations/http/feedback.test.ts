import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { deliverPorts } from '../../../../src/composition/deliver.ts';
import { feedbackPorts } from '../../../../src/composition/feedback.ts';
import { eventWorkerPorts } from '../../../../src/composition/push.ts';
import { drainOnce } from '../../../../src/core/deliver/deliveries.ts';
import { destinationType as http } from '../../../../src/core/deliver/destinations/http/destination.ts';
import { drainEvents } from '../../../../src/core/intake/push/worker.ts';
import { readAllFeedback } from '../../../../src/core/intake/stream/feedback.ts';
import { watchOnce } from '../../../../src/operator/operations/watch-once.ts';
import type { Json, Report } from '../../../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../../../api/node.ts';
import { listen, type Reply } from '../../http-server.ts';
import { services } from '../../support.ts';
import { type Account, Refusal } from '../../vendors/account.ts';
import { accounts } from '../../vendors/all.ts';
import { feedbackAnswer } from '../../vendors/feedback.ts';
import { mailchimpAccount } from '../../vendors/mailchimp.ts';

const hourMs = 3_600_000;

async function vendor(account: Account, reports: readonly Report[], instead?: () => Reply | undefined) {
  const refusals: string[] = [];
  const server = await listen((request) => {
    try {
      return instead?.() ?? feedbackAnswer(account.preset, request, reports) ?? account.answer(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals.push(`${request.method} ${request.path}: ${error.message}`);
      return { status: 400, body: { message: error.message } };
    }
  });
  return { ...server, refusals };
}

async function readFrom(t: TestContext, account: Account, reports: readonly Report[], since: number) {
  const server = await vendor(account, reports);
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
  });
  const settings = http.settings.parse({ preset: account.preset, with: account.variables(server.url) });
  const pages = await Array.fromAsync(http.feedback?.(settings, offered)(since, t.signal) ?? []);
  assert.deepEqual(server.refusals, []);
  return { pages, read: pages.flatMap((page) => (page.kind === 'page' ? page.reports : [])) };
}

/** What each vendor tells apart from an unsubscription, as docs/guides/unsubscribes.md says. */
const toldApart: Readonly<Record<string, readonly Report['says'][]>> = {
  hubspot: ['bounced', 'complained'],
  klaviyo: ['bounced', 'complained'],
  mailchimp: ['bounced', 'complained'],
  braze: ['bounced'],
  brevo: [],
  salesforce: ['bounced'],
  dynamics: [],
};

for (const make of accounts) {
  const { preset } = make();
  test(`${preset}: everybody who unsubscribed, bounced or complained is read, over all pages`, async (t) => {
    const start = Date.now() - 48 * hourMs;
    const all = Array.from({ length: 1_203 }, (_, i): Report => {
      const says = i % 3 === 0 ? 'bounced' : i % 3 === 1 ? 'unsubscribed' : 'complained';
      return { email: `g${i}@guests.example`, says, at: start + i * 1000 };
    });
    const { read } = await readFrom(t, make(), all, start);
    const order = (some: readonly Report[]) => some.map(({ email, at }) => `${email} ${at}`).sort();
    assert.deepEqual(order(read), order(all));
    // Some vendors list a complaint, or every refusal, as an unsubscription.
    const told = toldApart[preset];
    const said = new Map(read.map(({ email, says }) => [email, says]));
    for (const { email, says } of all)
      assert.equal(said.get(email), told?.includes(says) ? says : 'unsubscribed', `${email}: ${says}`);
  });

  test(`${preset}: a read that fails on a later page delivers the pages before it, and ends with the failure`, async (t) => {
    const all = Array.from({ length: 1_203 }, (_, i): Report => {
      return { email: `g${i}@guests.example`, says: 'unsubscribed', at: Date.now() - hourMs };
    });
    let asked = 0;
    const server = await vendor(make(), all, () => (++asked === 2 ? { status: 500, body: {} } : undefined));
    const offered = services('/');
    t.after(() => Promise.all([server.close(), offered.close()]));
    const settings = http.settings.parse({ preset, with: make().variables(server.url) });
    const beginning = Date.UTC(2000, 0, 1);
    const read = () => Array.fromAsync(http.feedback?.(settings, offered)(beginning, t.signal) ?? []);
    assert.deepEqual(
      (await read()).map(({ kind }) => kind),
      ['page', 'failed'],
    );
    const again = (await read()).flatMap((page) => (page.kind === 'page' ? page.reports : []));
    assert.equal(new Set(again.map(({ email }) => email)).size, all.length, 'the next read has everything');
  });

  test(`${preset}: only what is new is read`, async (t) => {
    const now = Date.now();
    const old = { email: 'old@guests.example', says: 'unsubscribed', at: now - 400 * 24 * hourMs } as const;
    const fresh = { email: 'new@guests.example', says: 'unsubscribed', at: now - 1000 } as const;
    const { pages, read } = await readFrom(t, make(), [old, fresh], now - hourMs);
    assert.deepEqual(read, [fresh]);
    assert.ok(pages.length <= 3, `${pages.length} pages for one report`);
  });

  test(`${preset}: a refused request is a failure, and nothing is read`, async (t) => {
    const server = await vendor(make(), [], () => ({ status: 403, body: { message: 'no permission' } }));
    const offered = services('/');
    t.after(async () => {
      await server.close();
      await offered.close();
    });
    const settings = http.settings.parse({ preset, with: make().variables(server.url) });
    const pages = await Array.fromAsync(http.feedback?.(settings, offered)(0, t.signal) ?? []);
    assert.deepEqual(
      pages.map((page) => page.kind === 'failed' && page.code),
      ['deliver.auth_failed'],
    );
  });
}

test('klaviyo: with its own list, who unsubscribed from that list is read too', async (t) => {
  const at = Date.now() - hourMs;
  const rows = [
    { list_id: 'L9', timestamp: new Date(at).toISOString(), reason: 'UNSUBSCRIBE' },
    { list_id: 'other', timestamp: new Date(at).toISOString(), reason: 'UNSUBSCRIBE' },
  ].map((one, i) => ({
    attributes: {
      email: `list${i}@guests.example`,
      subscriptions: { email: { marketing: { suppression: [], list_suppressions: [one] } } },
    },
  }));
  const filters: string[] = [];
  const server = await listen(({ path }) => {
    const { searchParams } = new URL(path, 'http://klaviyo');
    const filter = searchParams.get('filter') ?? '';
    filters.push(filter);
    return { status: 200, body: { data: filter.includes('list_suppressions') ? rows : [], links: { next: null } } };
  });
  const offered = services('/');
  t.after(() => Promise.all([server.close(), offered.close()]));
  const settings = http.settings.parse({ preset: 'klaviyo', with: { base_url: server.url, list_id: 'L9' } });
  const pages = await Array.fromAsync(http.feedback?.(settings, offered)(at, t.signal) ?? []);
  const since = new Date(at).toISOString();
  assert.deepEqual(filters, [
    `greater-or-equal(subscriptions.email.marketing.suppression.timestamp,${since})`,
    `equals(subscriptions.email.marketing.list_suppressions.list_id,"L9"),greater-or-equal(subscriptions.email.marketing.list_suppressions.timestamp,${since})`,
  ]);
  assert.deepEqual(
    pages.flatMap((page) => (page.kind === 'page' ? page.reports : [])),
    [{ email: 'list0@guests.example', says: 'unsubscribed', at }],
  );
});

test('the next page of another host is not asked for: our credentials go to the vendor only', async (t) => {
  const [klaviyo] = accounts.filter((make) => make().preset === 'klaviyo');
  const account = klaviyo?.();
  assert.ok(account);
  const elsewhere = await listen(() => ({ status: 200, body: { data: [] } }));
  const server = await vendor(account, [], () => ({
    status: 200,
    body: { data: [], links: { next: `${elsewhere.url}/api/profiles` } },
  }));
  const offered = services('/');
  t.after(() => Promise.all([server.close(), elsewhere.close(), offered.close()]));
  const settings = http.settings.parse({ preset: 'klaviyo', with: account.variables(server.url) });
  await Array.fromAsync(http.feedback?.(settings, offered)(0, t.signal) ?? []);
  assert.deepEqual([server.received.length, elsewhere.received.length], [1, 0]);
});

describe('a brand with two vendors', () => {
  const yes = {
    guest_id: '7',
    first_name: 'Ana',
    last_name: 'Exemplo',
    email: 'ana@guests.example',
    marketing_consent: true,
  };
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04' };
  const presets = accounts.map((make) => make().preset);
  const reports = new Map(presets.map((preset): [string, Report[]] => [preset, []]));
  /** Vendors that answer nothing at the moment. */
  const refusing = new Set<string>();
  const origins = new Map<string, Account>();
  const others = new Map<string, Account>();
  const servers: Awaited<ReturnType<typeof vendor>>[] = [];
  let node: ApiNode;

  before(async () => {
    const files: Record<string, string> = {};
    const offered = services('/');
    const destination = async (name: string, account: Account, url: string) => {
      const basic = account.variables(url);
      const settings = http.settings.parse({ preset: account.preset, with: basic });
      const prepared = await http.prepare?.(settings, offered, { dryRun: false });
      files[`destinations/${name}.yaml`] = JSON.stringify({
        destination: name,
        type: 'http',
        preset: account.preset,
        with: { ...basic, ...prepared?.settings },
        receives: ['reservation', 'guest'],
        consent: 'marketing',
      });
    };
    for (const make of accounts) {
      const account = make();
      const other = mailchimpAccount();
      const { preset } = account;
      const refuse = () => (refusing.has(preset) ? { status: 503, body: {} } : undefined);
      const [server, second] = [await vendor(account, reports.get(preset) ?? [], refuse), await vendor(other, [])];
      servers.push(server, second);
      await destination(preset, account, server.url);
      await destination(`other-${preset}`, other, second.url);
      origins.set(preset, account);
      others.set(preset, other);
      for (const brand of [preset, `${preset}-twin`]) {
        files[`integrations/hotel-${brand}.yaml`] =
          `integration: hotel-${brand}\nconnector: hotel\nbrand_id: ${brand.toUpperCase()}\ntimezone: Europe/Lisbon\ncountry: PT\n` +
          `push: { enabled: true }\ndeliver: [${preset}${brand === preset ? `, other-${preset}` : ''}]\n`;
      }
    }
    await offered.close();
    node = await apiNode('', files);
  });
  after(async () => {
    await node.stop();
    await Promise.all(servers.map((server) => server.close()));
  });

  const deliver = async () => {
    for (const _ of [1, 2, 3]) await drainOnce(await deliverPorts(node.runtime));
    assert.deepEqual(
      servers.flatMap(({ refusals }) => refusals),
      [],
    );
  };
  const poll = async () => {
    await node.runtime.pool.query(`update streams set due_at = now()`);
    await readAllFeedback(await feedbackPorts(node.runtime), new AbortController().signal);
    await drainEvents(eventWorkerPorts(node.runtime));
    await deliver();
  };
  const book = async (preset: string, id: string, guest: { [field: string]: Json }) => {
    const data = { reservation_id: id, ...stay, status: 'confirmed', guests: [guest] };
    await node.send(`hotel-${preset}`, 'reservation.updated', data);
    await deliver();
  };
  const subscribed = (account: Account | undefined) => account?.people().map(({ subscribed }) => subscribed);
  const profile = async (preset: string) => {
    const { rows } = await node.runtime.pool.query<{ id: string; consent: boolean; version: number }>(
      `select id, (data ->> 'marketing_consent')::boolean as consent, version from records where integration = $1 and type = 'guest'`,
      [`hotel-${preset}`],
    );
    assert.equal(rows.length, 1);
    return rows[0] as (typeof rows)[number];
  };

  for (const preset of presets) {
    test(`${preset}: who unsubscribes there is unsubscribed everywhere, and a PMS that repeats its yes subscribes nobody`, async () => {
      const [origin, other] = [origins.get(preset), others.get(preset)];
      await book(preset, 'R1', yes);
      assert.deepEqual(subscribed(other), [true]);
      origin?.unsubscribe(yes.email);
      reports.get(preset)?.push(
        // Addresses may come in another case, and the account may hold people who are no guests.
        { email: 'Ana@guests.example', says: 'unsubscribed', at: Date.now() },
        { email: 'stranger@guests.example', says: 'unsubscribed', at: Date.now() },
      );
      await poll();
      assert.deepEqual(subscribed(other), [false], 'the other vendor is told');
      const { id, consent, version } = await profile(preset);
      assert.equal(consent, false);
      const token = await node.token('viewer');
      const story = await node.call('GET', `/integrations/hotel-${preset}/guests/${id}`, token);
      assert.equal(story.body.consents[0].source, `destination:${preset}`, 'the profile says who said it');
      assert.deepEqual(
        story.body.consents.map(({ value, source }: { value: boolean; source: string }) => [value, source]),
        [
          [false, `destination:${preset}`],
          [true, 'push'],
        ],
      );

      await book(preset, 'R1', { ...yes, nationality: 'PT' });
      await book(preset, 'R2', yes);
      await node.take(`hotel-${preset}`, reservation('R3', { ...stay, guests: [yes] }));
      await deliver();
      await poll();
      assert.deepEqual([subscribed(origin), subscribed(other)], [[false], [false]], 'a repeated yes says nothing new');
      assert.equal((await profile(preset)).consent, false);
      assert.ok((await profile(preset)).version > version);
      const { rows } = await node.runtime.pool.query(
        `select from records where data ->> 'email' = 'stranger@guests.example'`,
      );
      assert.equal(rows.length, 0, 'people who are no guests are not stored');

      await node.send(`hotel-${preset}`, 'guest.updated', { email: yes.email, marketing_consent: false }, Date.now());
      await node.send(
        `hotel-${preset}`,
        'guest.updated',
        { email: yes.email, marketing_consent: true },
        Date.now() + 1,
      );
      await deliver();
      assert.equal((await profile(preset)).consent, true, 'a newer, changed statement of the guest counts');
    });

    test(`${preset}: an address that bounced or complained there gets no marketing anywhere, after a failed read too`, async () => {
      const other = others.get(preset);
      const people = (['bounced', 'complained'] as const).map((says, i) => ({
        says,
        guest: { ...yes, guest_id: `b${i}`, email: `${says}@guests.example`, first_name: says },
      }));
      for (const { says, guest } of people) await book(preset, `B-${says}`, guest);
      const at = Date.now();
      reports.get(preset)?.push(...people.map(({ says, guest }) => ({ email: guest.email, says, at })));
      refusing.add(preset);
      await poll();
      refusing.delete(preset);
      await poll();
      const { rows } = await node.runtime.pool.query<{ id: string; consent: boolean; email: string }>(
        `select id, (data ->> 'marketing_consent')::boolean as consent, data ->> 'email' as email from records
          where integration = $1 and type = 'guest' and data ->> 'guest_id' like 'b%' order by email`,
        [`hotel-${preset}`],
      );
      assert.deepEqual(
        rows.map(({ email, consent }) => [email, consent]),
        people.map(({ guest }) => [guest.email, false]),
      );
      const told = other?.people().filter(({ email }) => people.some(({ guest }) => guest.email === email));
      assert.deepEqual(
        told?.map(({ subscribed }) => subscribed),
        [false, false],
        'the other vendor is told',
      );
      const token = await node.token('viewer');
      for (const [i, { id }] of rows.entries()) {
        const { body } = await node.call('GET', `/integrations/hotel-${preset}/guests/${id}`, token);
        assert.equal(body.consents[0].source, `destination:${preset}`);
        const says = people[i]?.says ?? 'unsubscribed';
        const expected = toldApart[preset]?.includes(says) ? says : 'unsubscribed';
        assert.ok(
          JSON.stringify(body).includes(`The destination ${preset} reports: ${expected}.`),
          'the timeline says what',
        );
      }
    });

    test(`${preset}: what one brand withdraws there is not the word of another brand’s guest`, async () => {
      const guest = { ...yes, guest_id: '8', email: 'rui@guests.example', first_name: 'Rui' };
      await book(preset, 'T1', guest);
      await book(`${preset}-twin`, 'T1', guest);
      await node.send(`hotel-${preset}-twin`, 'guest.updated', { email: guest.email, marketing_consent: false });
      await deliver();
      reports.get(preset)?.push({ email: guest.email, says: 'unsubscribed', at: Date.now() });
      await poll();
      const { rows } = await node.runtime.pool.query<{ consent: boolean }>(
        `select (data ->> 'marketing_consent')::boolean as consent from records
          where integration = $1 and type = 'guest' and data ->> 'email' = $2`,
        [`hotel-${preset}`, guest.email],
      );
      assert.deepEqual(rows, [{ consent: true }]);
    });
  }

  test('a vendor that refuses the list raises an alert and does not stop deliveries', async () => {
    const [server] = servers;
    assert.ok(server);
    await server.close();
    for (const _ of [1, 2, 3]) await poll().catch(() => {});
    const { rows } = await node.runtime.pool.query(`select failures from streams where stream = $1`, [
      `destination:${presets[0]}`,
    ]);
    assert.deepEqual(rows, [{ failures: 3 }]);
    await watchOnce(node.runtime);
    const alerts = await node.runtime.pool.query(`select subject from alerts where kind = 'feedback_failing'`);
    assert.deepEqual(alerts.rows, [{ subject: presets[0] }]);
    servers.splice(0, 1);
  });
});
