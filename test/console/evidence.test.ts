import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { countActivity } from '../../src/operator/store/activity.ts';
import { countEvidence } from '../../src/operator/store/measures/evidence.ts';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/**
 * States by pages: every sentence about health that a page says of a brand or a destination is compared with rows of the database, so a
 * sentence without its fact fails. The sentences are recognized by their words, wherever they stand.
 */
const brands = [
  'sound',
  'no-mail',
  'nowhere',
  'silent',
  'key-refused',
  'all-refused',
  'cancelling',
  'gone-quiet',
  'wrong-clock',
  'login-ended',
  'stream-cut',
  'lists-nothing',
  'list-emptied',
] as const;
type Brand = (typeof brands)[number];

interface Facts {
  readonly bookings: number;
  readonly with_email: number;
  readonly delivered: number;
  readonly waiting: number;
  readonly dead: number;
  readonly alerts: number;
  readonly refused_key: boolean;
  /** Hours since its last event. */
  readonly quiet_hours: number | null;
  /** Events that were refused because of their time. */
  readonly untimely: number;
  readonly login_ended: boolean;
  readonly stream_failures: number;
  readonly complete_runs: number;
  /** Stored, and missing from the partner's list. */
  readonly unlisted: number;
}

/** What a page may say of a brand, and the facts that it needs. */
const sentences: readonly (readonly [pattern: RegExp, holds: (facts: Facts, ...values: string[]) => boolean])[] = [
  [
    /(\d+) bookings?, (\d+) % with e-mail/g,
    ({ bookings, with_email }, count, share) =>
      Number(count) === bookings && Number(share) === Math.floor((100 * with_email) / bookings),
  ],
  [/last delivery \d/g, ({ delivered }) => delivered > 0],
  [/Healthy/g, ({ bookings, delivered, dead, alerts }) => bookings > 0 && delivered > 0 && dead + alerts === 0],
  [/Every check passed|All well/g, () => false],
  [
    /None of (\d+) bookings has an e-mail/g,
    ({ bookings, with_email }, n) => bookings === Number(n) && with_email === 0,
  ],
  [/No event has arrived yet/g, ({ bookings }) => bookings === 0],
  [/No booking has come yet/g, ({ bookings, complete_runs }) => bookings === 0 && complete_runs > 0],
  [/Nothing is counted yet/g, () => false],
  [/No reservation is stored/g, ({ bookings }) => bookings === 0],
  [/Every stored reservation is still listed/g, ({ bookings, unlisted }) => bookings > 0 && unlisted === 0],
  [/list is empty.*?(\d+) that it listed before/gs, ({ unlisted }, n) => unlisted > 0 && unlisted === Number(n)],
  [
    /delivers to nobody.*?(\d+) bookings? stored/gs,
    ({ bookings, delivered }, n) => bookings === Number(n) && delivered === 0,
  ],
  [/refuses our credentials/g, ({ refused_key, dead, waiting }) => refused_key && dead === 0 && waiting > 0],
  [/refuses all changes.*?(\d+) records? refused/gs, ({ dead }, n) => dead === Number(n)],
  [/(\d+) of (\d+) coming bookings were cancelled/g, (_, part, all) => Number(part) * 4 >= Number(all)],
  [
    /No event for ([\d.]+) hours/g,
    ({ quiet_hours, bookings }, hours) => bookings > 0 && Math.abs(Number(hours) - (quiet_hours ?? 0)) <= 0.1,
  ],
  [/(\d+) (?:events?|webhooks?) were refused/g, ({ untimely }, n) => untimely === Number(n)],
  [/partner refuses the credentials; pulling is paused/g, ({ login_ended }) => login_ended],
  [/The stream cannot be read/g, ({ stream_failures }) => stream_failures >= 3],
  [/Values of 0 bookings/g, () => false],
  [/tried again .{0,12} ago/g, () => false],
];

const streamed = `connector: streamed
pull:
  request: { path: /list, query: { from: "{window.from}", to: "{window.to}" } }
  single: { path: "/list/{id}" }
push:
  envelope: { event: name, names: { reservation.updated: changed }, brand: hotelId, data: { id: key } }
  thin: { id: id }
stream:
  path: /events
  subscription: "subscription { newEvent(input: {input}) { metadata { offset } name key } }"
  variables: { input: { offset: "{offset}" } }
  event: newEvent
  offset: metadata.offset
  ping: 1s
  pause: 1s
  replay: { kept: 7d, inclusive: true }
`;

describe('each sentence about health has its fact', { skip }, () => {
  let setup: Setup;
  let page: Page;
  const servers: Server[] = [];
  /** What the partner of list-emptied lists. */
  let listed: unknown[] = [];
  const answering = async (status: number, body = (): unknown => ({ error: 'no' })): Promise<string> => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body()));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const query = (sql: string, values: unknown[] = []) => setup.service.runtime.pool.query(sql, values);

  before(async () => {
    const document = (name: Brand, deliver: string) =>
      `integration: ${name}\nconnector: hotel\nbrand_id: ${name}\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [${deliver}]\n`;
    const http = (name: string, url: string) =>
      `destination: ${name}\ntype: http\nurl: ${url}/stays\nreceives: [reservation]\n`;
    const pullFrom = (url: string) =>
      `pull:\n  base_url: ${url}\n  auth: { type: none }\n  syncs: { pre_stay: { every: 60m, range: [+1d, +7d] } }\n`;
    const pull = pullFrom('http://127.0.0.1:9');
    const nothing = await answering(200, () => ({ reservations: [] }));
    const emptied = await answering(200, () => ({ reservations: listed }));
    setup = await openSetup({
      'destinations/locked.yaml': http('locked', await answering(401)),
      'destinations/picky.yaml': http('picky', await answering(422)),
      'destinations/archive.yaml': `${http('archive', 'http://127.0.0.1:9')}paused: true\n`,
      'integrations/sound.yaml': document('sound', 'lake'),
      'integrations/no-mail.yaml': document('no-mail', 'lake'),
      'integrations/nowhere.yaml': document('nowhere', ''),
      'integrations/silent.yaml': document('silent', 'lake'),
      'integrations/key-refused.yaml': document('key-refused', 'locked'),
      'integrations/all-refused.yaml': document('all-refused', 'picky'),
      'integrations/cancelling.yaml': document('cancelling', 'lake'),
      'integrations/gone-quiet.yaml': document('gone-quiet', 'lake'),
      'integrations/wrong-clock.yaml': document('wrong-clock', 'lake'),
      'integrations/login-ended.yaml': `${document('login-ended', 'lake')}${pull}`,
      'integrations/lists-nothing.yaml': `${document('lists-nothing', 'lake')}${pullFrom(nothing)}`,
      'integrations/list-emptied.yaml': `${document('list-emptied', 'lake')}${pullFrom(emptied)}`,
      'connectors/streamed.yaml': streamed,
      'integrations/stream-cut.yaml': `${document('stream-cut', 'lake').replace('hotel', 'streamed')}${pull}stream: { key: a-key, chain: ABC }\n`,
    });
    const send = async (name: Brand, count: number, more: object = {}, event = 'created') => {
      for (let i = 0; i < count; i++) {
        const event_id = `${name}-${event}-${i}`;
        await setup.push(name, {
          brand_id: name,
          event: `reservation.${event}`,
          event_id,
          data: booking(`R${i}`, { ...more }),
        });
      }
    };
    const run = async (name: Brand) => {
      const { run_id } = await setup.api<{ run_id: string }>('POST', `/integrations/${name}/runs`, {
        sync: 'pre_stay',
      });
      await until(`the run of ${name} is complete`, async () => {
        const { rows } = await query(`select from runs where run_id = $1 and state = 'complete'`, [run_id]);
        return rows.length === 1;
      });
    };
    await run('lists-nothing');
    const soon = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    listed = Array.from({ length: 12 }, (_, i) =>
      booking(`R${i}`, { id: `R${i}`, check_in: soon(2), check_out: soon(4) }),
    );
    await run('list-emptied');
    listed = [];
    await run('list-emptied');
    const unreachable = { guests: [{ first_name: 'Rui', last_name: 'Costa' }] };
    await send('sound', 12);
    await send('no-mail', 12, unreachable);
    await send('nowhere', 12);
    await send('key-refused', 12);
    await send('all-refused', 12);
    await send('cancelling', 30);
    await send('gone-quiet', 12);
    await until('all are stored', async () => {
      const { rows } = await query(
        `select count(*)::int as n from records where type = 'reservation' and version > 0 and integration <> 'grand'`,
      );
      return rows[0].n === 114;
    });
    await send('cancelling', 12, { status: 'cancelled' }, 'cancelled');
    await until('what can be delivered is, and what is refused has failed or waits', async () => {
      const { rows } = await query(
        `select (select count(*)::int from outbox where destination = 'lake' and due_at is not null) as lake,
                (select count(*)::int from dead_letters where destination = 'picky' and state = 'open') as picky,
                (select count(*)::int from remotes where name = 'locked' and refused and state <> 'closed') as locked,
                (select count(*)::int from history where integration = 'cancelling' and outcome = 'cancelled') as cancelled`,
      );
      const { lake, picky, locked, cancelled } = rows[0];
      return lake === 0 && picky === 12 && locked === 1 && cancelled === 12;
    });
    // Steps of ten seconds, which the service counts when they are over.
    await until('deliveries and changes are counted', async () => {
      await countActivity(setup.service.runtime.pool);
      const { rows } = await query(
        `select count(*)::int as n from activity where step = 'ever' and changes > 0 and (delivered > 0 or integration in ('nowhere', 'key-refused', 'all-refused'))`,
      );
      return rows[0].n >= 6;
    });
    // A brand whose events came every hour for weeks and stopped; one whose sender's clock is wrong; one whose login has ended.
    await query(`update events set received_at = now() - interval '3 hours' where integration = 'gone-quiet'`);
    await query(`insert into activity (integration, step, at, events)
      select 'gone-quiet', '1h', h, 20 from generate_series(date_trunc('hour', now()) - interval '27 days', now() - interval '4 hours', interval '1 hour') as h`);
    await query(`insert into rejections (integration, endpoint_id, code, reason, hour, count, newest)
      select 'wrong-clock', 'ep', 'push.unauthorized', 'timestamp_old', date_trunc('hour', now()), 4,
             jsonb_agg(jsonb_build_object('at', extract(epoch from now()) * 1000 - n)) from generate_series(1, 4) as n`);
    await query(`insert into partner_accounts (integration, auth_failed_at, auth_message)
      values ('login-ended', now(), 'the refresh token has expired') on conflict (integration) do update set auth_failed_at = now()`);
    await until('the stream was tried three times', async () => {
      const { rows } = await query(`select from streams where account = 'stream-cut' and failures >= 3`);
      return rows.length === 1;
    });
    while ((await countEvidence(setup.service.runtime.pool)) > 0);
    await watchOnce(setup.service.runtime);
    page = await setup.signIn();
  });
  after(async () => {
    await setup?.stop();
    for (const server of servers) server.close();
  });

  const factsOf = async (name: Brand): Promise<Facts> => {
    const { rows } = await query(
      `select count(r.id)::int as bookings,
              (count(r.id) filter (where r.data -> 'guests' -> 0 ->> 'email' is not null))::int as with_email,
              (select count(*)::int from outbox o where o.integration = $1 and o.delivered_version > 0 and o.destination not like 'innbound:%') as delivered,
              (select count(*)::int from outbox o where o.integration = $1 and o.due_at is not null) as waiting,
              (select count(*)::int from dead_letters d where d.integration = $1 and d.state = 'open') as dead,
              (select count(*)::int from alerts a where a.resolved_at is null and (a.integration = $1 or $1 = any(a.brands))) as alerts,
              (select extract(epoch from now() - max(e.received_at))::float8 / 3600 from events e where e.integration = $1) as quiet_hours,
              (select coalesce(sum(j.count), 0)::int from rejections j where j.integration = $1 and j.reason = 'timestamp_old') as untimely,
              exists (select from partner_accounts p where p.integration = $1 and p.auth_failed_at is not null) as login_ended,
              (select count(*)::int from runs u where u.integration = $1 and u.state = 'complete') as complete_runs,
              (count(r.id) filter (where r.unlisted is not null))::int as unlisted,
              (select coalesce(max(t.failures), 0) from streams t where t.account = $1) as stream_failures,
              exists (select from remotes m join outbox o on o.destination = m.name where o.integration = $1 and m.refused) as refused_key
         from records r where r.integration = $1 and r.type = 'reservation' and r.version > 0`,
      [name],
    );
    return rows[0] as Facts;
  };
  const check = (text: string, facts: Facts, where: string): number => {
    let said = 0;
    for (const [pattern, holds] of sentences)
      for (const [sentence, ...values] of text.matchAll(pattern)) {
        said += 1;
        assert.ok(holds(facts, ...values), `${where}: “${sentence}” but ${JSON.stringify(facts)}`);
      }
    return said;
  };

  for (const name of brands) {
    test(`${name}: on its own page, in both lists, and in the answer of status`, async () => {
      const facts = await factsOf(name);
      let said = 0;
      await go(page, `/integrations/${name}`);
      const text = await textOf(page.getByRole('main'));
      said += check(text, facts, 'its page');
      assert.ok((text.match(/clock is wrong/g) ?? []).length <= 2, 'a wrong clock is said once, and at its endpoint');
      for (const [at, label] of [
        ['/', 'Health of each brand'],
        ['/integrations', 'Integrations'],
      ] as const) {
        await go(page, at);
        const row = page
          .getByRole('table', { name: label })
          .getByRole('row')
          .filter({
            has: page.getByRole('link', { name, exact: true }),
          });
        said += check(await textOf(row), facts, at);
      }
      const { state, reasons, rests_on } = await setup.api<{
        state: string;
        reasons: string[];
        rests_on: string | null;
      }>('GET', `/integrations/${name}`);
      assert.equal(state === 'healthy', name === 'sound', `${name} is ${state}`);
      said += check([...reasons, rests_on].join(' '), facts, 'the API');
      assert.ok(said > 0, 'something is said of it');
    });
  }

  test('a refused key is one incident that says so, with Try now; nothing became a dead letter', async () => {
    await go(page, '/destinations');
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'locked', exact: true }) });
    assert.match(
      await textOf(card),
      /Failing.*It refuses our credentials: The destination answered 401.*Since .*Try now/s,
    );
    const picky = page.locator('.card', { has: page.getByRole('heading', { name: 'picky', exact: true }) });
    assert.match(await textOf(picky), /Failing.*It refuses all changes: .*422.*12 changes since.*Try now/s);
    const { items } = await setup.api<{ items: { cause: string }[] }>('GET', '/incidents');
    for (const name of ['locked', 'picky'])
      assert.equal(items.filter(({ cause }) => cause === `destination:${name}`).length, 1, name);
    assert.equal(
      items.filter(({ cause }) => cause === 'records:all-refused').length,
      0,
      'not again for its dead letters',
    );
  });

  test('the title, the badge and the first sentence have one count, and the flow does not move where nothing moves', async () => {
    await go(page, '/');
    const title = await textOf(page.locator('#causes'));
    const [count = ''] = /^\d+/.exec(title) ?? ['1'];
    assert.match(await textOf(page.getByRole('link', { name: /^Incidents/ })), new RegExp(`^Incidents${count} open`));
    assert.ok((await textOf(page.locator('.lead'))).startsWith(title), title);
    const rows = await page.getByRole('table', { name: 'Health of each brand' }).getByRole('row').allTextContents();
    const unwell = rows.filter((row) => /Attention|Failing|Auth failed/.test(row)).length;
    assert.match(
      await textOf(page.locator('.lead')),
      new RegExp(`${unwell} of ${brands.length + 1} brands need attention`),
    );
    const places = page.getByRole('list', { name: 'Destinations' });
    assert.match(await textOf(places.getByRole('listitem').filter({ hasText: 'picky' })), /12 blocked/);
    assert.match(await textOf(places.getByRole('listitem').filter({ hasText: /^locked/ })), /12 waiting/);
  });

  test('what is folded among the causes is stated in the row of its brand, with its facts', async () => {
    await go(page, '/');
    const folded = await page.locator('.causes details .title').allTextContents();
    assert.ok(folded.length > 0);
    const rows = await page.getByRole('table', { name: 'Health of each brand' }).getByRole('row').allTextContents();
    for (const title of folded) assert.ok(!rows.some((row) => row.includes(title)), title);
  });

  test('destinations begin with those that fail', async () => {
    await go(page, '/destinations');
    const states = await page.locator('.split > .card > header .state').allTextContents();
    assert.deepEqual(states, ['Failing', 'Failing', 'Paused']);
  });

  test('a page of a hotel says by how much its figures are behind, or is not behind', async () => {
    for (const name of ['sound', 'silent'] as const) {
      await go(page, `/hotels/${name}`);
      const { bookings } = await factsOf(name);
      const text = await textOf(page.getByRole('main'));
      assert.equal(/Nothing counted yet/.test(text), bookings === 0, name);
      const { rows } = await query(
        `select (t.changes - h.changes)::int as behind from hotels h join activity t using (integration) where t.step = 'ever' and integration = $1`,
        [name],
      );
      const [, behind = '0'] = /(\d+) changes? since then/.exec(text) ?? [];
      assert.equal(Number(behind), rows[0]?.behind ?? 0, name);
    }
  });

  test('the browser reported no error', () =>
    assert.deepEqual(
      setup.complaints.filter((text) => !text.includes('404')),
      [],
    ));
});
