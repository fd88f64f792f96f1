import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { until } from '../support/process.ts';
import { go } from './support/go.ts';
import { booking, openSetup, type Setup, skip, textOf } from './support/setup.ts';

/**
 * Nine brands, each in one state that an operator meets. Every page is opened for each of them, and what it claims is compared
 * with what the API reports.
 */
interface Brand {
  readonly name: string;
  readonly state: string;
  readonly reasons: readonly string[];
  readonly paused: boolean;
  readonly last_run_at: string | null;
  readonly open_dead_letters: number;
}
interface Listed {
  readonly total?: number;
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

const expected = {
  new: 'new',
  quiet: 'new',
  'auth-failing': 'auth_failed',
  'circuit-open': 'failing',
  'destination-down': 'failing',
  backlog: 'attention',
  'dead-letters': 'attention',
  paused: 'paused',
  refused: 'failing',
} as const;
type Name = keyof typeof expected;
const names = Object.keys(expected) as Name[];

describe('every page in nine states of a brand', { skip }, () => {
  let setup: Setup;
  let page: Page;
  const servers: Server[] = [];
  const hanging = new Set<() => void>();
  /** The partner that refuses the credentials. */
  let accepts = false;

  const start = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const answering = (status: number, body: string) =>
    start((request, response) => {
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });

  before(async () => {
    const refusing = await start((request, response) => {
      request.resume();
      response.writeHead(accepts ? 200 : 401, { 'content-type': 'application/json' });
      response.end(accepts ? '{"reservations":[]}' : '{"error":"unknown key"}');
    });
    // Each brand has its own: a second brand that gets the bookings of the first stops.
    const list = () => answering(200, '{"reservations":[]}');
    const failing = await answering(503, '{"error":"maintenance"}');
    const down = await answering(503, '{"error":"out of memory"}');
    const slow = await start((request, response) => {
      request.resume();
      hanging.add(() => response.writeHead(200).end('{}'));
    });
    const brand = (name: Name, deliver: string, partner?: string) => `integration: ${name}
connector: hotel
brand_id: ${name}
timezone: Europe/Lisbon
country: PT
${partner ? `pull:\n  base_url: ${partner}\n  auth: { type: bearer, token: key-of-${name} }\n  syncs:\n    pre_stay: { every: 60m, range: [+1d, +7d] }\n` : ''}push: { enabled: true }
deliver: [${deliver}]
`;
    const http = (name: string, url: string) =>
      `destination: ${name}\ntype: http\nurl: ${url}/stays\nreceives: [reservation]\nconcurrency: 1\n`;
    setup = await openSetup({
      'destinations/down.yaml': http('down', down),
      // Answers that time out would make it fail on a busy machine.
      'destinations/slow.yaml': `${http('slow', slow)}timeout: 5m\n`,
      'integrations/new.yaml': brand('new', 'lake'),
      'integrations/quiet.yaml': brand('quiet', 'lake', await list()),
      'integrations/auth-failing.yaml': brand('auth-failing', 'lake', refusing),
      'integrations/circuit-open.yaml': brand('circuit-open', 'lake', failing),
      'integrations/destination-down.yaml': brand('destination-down', 'lake, down'),
      'integrations/backlog.yaml': brand('backlog', 'slow'),
      'integrations/dead-letters.yaml': brand('dead-letters', 'crm'),
      'integrations/paused.yaml': brand('paused', 'lake', await list()),
      'integrations/refused.yaml': brand('refused', 'lake', await list()),
    });
    setup.crm.refuse = (id) => id === 'R7';
    const push = async (name: Name, count: number, first = 1) => {
      for (let i = first; i < first + count; i++) {
        await setup.push(name, {
          brand_id: name,
          event: 'reservation.created',
          event_id: `${name}-${i}`,
          data: booking(`R${i}`),
        });
      }
    };
    // A sender with a wrong secret; its pulls work.
    const { url } = await addressFor(setup.service.runtime, 'refused', { rotate: true });
    for (let i = 0; i < 25; i++) {
      const event = { brand_id: 'refused', event: 'reservation.created', event_id: `x${i}`, data: booking('R1') };
      await assert.rejects(setup.pushTo({ url, secret: 'whsec_d3Jvbmc=' }, event), /^Error: 401/);
    }
    const run = (name: Name) => setup.api('POST', `/integrations/${name}/runs`, { sync: 'pre_stay' });
    const { pool } = setup.service.runtime;
    // The state after five failed requests; reaching it takes half a minute of backoff.
    await pool.query(
      `insert into remotes (kind, name, state, failures, away, last_failure, opened_at, probe_at)
       values ('partner', $1, 'open', 5, true, 'answered 503', now(), now() + interval '10 minutes')
       on conflict (kind, name) do update set state = 'open', failures = 5, last_failure = excluded.last_failure,
         opened_at = excluded.opened_at, probe_at = excluded.probe_at`,
      [failing],
    );
    await Promise.all([run('quiet'), run('auth-failing'), run('circuit-open'), run('paused'), run('refused')]);
    await push('destination-down', 4);
    await push('backlog', 12);
    await push('dead-letters', 1, 7);
    await until('the runs have ended or wait', async () => {
      const { rows } = await pool.query(
        `select from runs where integration = any($1) and finished_at is null and waiting is null`,
        [names],
      );
      return rows.length === 0;
    });
    await setup.api('POST', '/integrations/paused/pause', {});
    // What still waits for a slot has been due for ten minutes.
    await until('a backlog is left', async () => {
      const { rowCount } = await pool.query(
        `update outbox set due_at = now() - interval '10 minutes' where destination = 'slow' and not leased`,
      );
      return (rowCount ?? 0) > 0;
    });
    let seen: Brand[] = [];
    await until('each brand is in its state', async () => {
      seen = (await setup.api<{ items: Brand[] }>('GET', '/integrations')).items;
      return names.every((name) => seen.find((one) => one.name === name)?.state === expected[name]);
    }).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(seen.map(({ name, state }) => [name, state]))}`);
    });
    await watchOnce(setup.service.runtime);
    page = await setup.signIn({ role: 'operator' });
  });
  after(async () => {
    for (const answer of hanging) answer();
    await setup?.stop();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });

  const open = (at: string) => go(page, at);
  const brandNow = (name: string) => setup.api<Brand>('GET', `/integrations/${name}`);
  const label = (state: string) => state.charAt(0).toUpperCase() + state.slice(1).replaceAll('_', ' ');
  const rowOf = (name: string): Locator =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  const main = () => textOf(page.getByRole('main'));

  test('the overview does not call it well, names each state with its reasons, and says when it looked', async () => {
    await open('/');
    const text = await main();
    assert.doesNotMatch(text, /All well/);
    assert.match(text, /\d of 10 brands need attention/);
    assert.match(text, /Checked (just now|\d)/);
    for (const name of names) {
      const { state, reasons } = await brandNow(name);
      const row = await textOf(page.getByRole('table', { name: 'Health of each brand' }).locator(rowOf(name)));
      assert.ok(row.includes(label(state)), `${name}: ${row}`);
      // The reasons, or the cause that has them.
      const isSaid = reasons.every((reason) => row.includes(reason)) || row.length > `${name}${label(state)}`.length;
      assert.ok(isSaid, `${name}: ${row}`);
      assert.equal(/last delivery/.test(row) && state === 'healthy', state === 'healthy', `${name}: ${row}`);
    }
  });

  test('the list of integrations has the same states', async () => {
    await open('/integrations');
    for (const name of names) assert.ok((await textOf(rowOf(name))).includes(label(expected[name])), name);
  });

  for (const name of names) {
    test(`the page of the brand: ${name}`, async () => {
      const { state, reasons, paused, last_run_at } = await brandNow(name);
      await open(`/integrations/${name}?tab=pull`);
      const text = await main();
      assert.ok(text.includes(label(state)), text);
      for (const reason of reasons) assert.ok(text.includes(reason), `${reason} in ${text}`);
      const pulls = !text.includes('This brand is not pulled');
      assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), pulls && paused ? 1 : 0);
      assert.equal(await page.getByRole('button', { name: 'Pause pulling' }).count(), pulls && !paused ? 1 : 0);
      const runs = await setup.api<Listed>('GET', `/runs?integration=${name}`);
      assert.equal(text.includes('No run yet'), runs.items.length === 0);
      assert.equal(/no run yet/.test(text), pulls && last_run_at === null && runs.items.length === 0, text);
      assert.equal(
        /a run is in progress/.test(text),
        runs.items.some(({ finished_at }) => finished_at === null),
        text,
      );
    });

    test(`the lists of the brand: ${name}`, async () => {
      const runs = await setup.api<Listed>('GET', `/runs?integration=${name}`);
      await open(`/runs?integration=${name}`);
      assert.equal((await main()).includes('No run matches'), runs.items.length === 0);
      for (const { status } of runs.items) assert.ok((await main()).includes(label(String(status))));

      const events = await setup.api<Listed>('GET', `/events?integration=${name}`);
      await open(`/events?integration=${name}`);
      assert.equal((await main()).includes('No event matches'), events.items.length === 0);

      const letters = await setup.api<Listed>('GET', `/dead-letters?integration=${name}`);
      await open(`/dead-letters?integration=${name}`);
      assert.equal((await main()).includes('No open dead letters'), letters.total === 0);
      const title = `${letters.total} dead letter${letters.total === 1 ? '' : 's'}`;
      assert.equal(await page.getByRole('heading', { name: title, exact: true }).count(), 1);
      for (const { message } of letters.items) assert.ok((await main()).includes(String(message)));

      const records = await setup.api<Listed>('GET', `/reservations?integration=${name}&limit=30`);
      await open(`/reservations?integration=${name}`);
      assert.equal((await main()).includes('No reservation found'), records.items.length === 0);
      const delivered = records.items.filter(
        (one) => one.undelivered === 0 && one.open_dead_letters === 0 && Number(one.receivers) > 0,
      );
      assert.equal(await page.getByText('Everywhere', { exact: true }).count(), delivered.length);
    });
  }

  test('a viewer, who may try nothing, sees no names of missing buttons', async () => {
    const viewer = await setup.signIn({ role: 'viewer' });
    await go(viewer, '/integrations/destination-down');
    assert.match(await textOf(viewer.locator('.notice').first()), /^Failing.*\.$/);
  });

  test('the destinations show the failing one, with its answer, and what is held', async () => {
    await open('/destinations');
    const { items } = await setup.api<Listed>('GET', '/destinations');
    for (const { name, state } of items) {
      const card = page.locator('.card', { has: page.getByRole('heading', { name: String(name), exact: true }) });
      const place = (await card.count()) > 0 ? card : rowOf(String(name));
      assert.ok((await textOf(place)).includes(label(String(state))), `${name}: ${await textOf(place)}`);
    }
    const down = page.locator('.card', { has: page.getByRole('heading', { name: 'down', exact: true }) });
    assert.match(await textOf(down), /Failing.*Not available: The destination answered 503: out of memory/);
  });

  test('the timeline says per destination since when it fails, in its own words, and when it is tried next', async () => {
    await open('/reservations/destination-down/reservations/R1');
    const away =
      /takes nothing since \d.*\((.* ago|just now)\)\. Last answer: The destination answered 503: out of memory\. It is tried again (in|now)/;
    const lane = page.locator('.verdict li', { hasText: 'down' });
    assert.match(await textOf(lane), new RegExp(`^downAway.*${away.source}`));
    await lane.getByRole('button', { name: 'Try now: down' }).waitFor();
    assert.match(await textOf(page.locator('.ticks li', { hasText: 'down' })), away);
    assert.match(await textOf(page.locator('.verdict li', { hasText: 'lake' })), /Has version 1/);
    assert.match(await textOf(page.locator('.ticks li', { hasText: 'lake' })), /has it/);
  });

  test('the alerts are those of the API, open and all', async () => {
    const { items } = await setup.api<Listed>('GET', '/alerts');
    const kinds = items.map(({ kind }) => kind);
    for (const kind of ['auth_failed', 'breaker_open', 'destination_away', 'webhooks_refused'])
      assert.ok(kinds.includes(kind), kind);
    await open('/alerts');
    assert.equal(await page.getByRole('row').count(), items.length + 1);
    await page.getByText('All', { exact: true }).click();
    assert.doesNotMatch(await main(), /No open alerts/);
  });

  test('what waits has a button on its page, its incident and its run', async () => {
    const incidents = await setup.api<Listed>('GET', '/incidents');
    const incident = (cause: string) => incidents.items.find((one) => String(one.cause).startsWith(cause))?.incident_id;
    await open(`/incidents/${incident('pull:auth-failing')}`);
    await page.getByRole('button', { name: 'Test and resume: auth-failing' }).click();
    await page
      .getByText(/partner refuses|unknown key|401/i)
      .first()
      .waitFor();
    assert.equal((await brandNow('auth-failing')).state, 'auth_failed', 'what the partner refuses stays paused');
    assert.doesNotMatch(await main(), /previous run was still active/);

    await open(`/incidents/${incident('destination:down')}`);
    await page.getByRole('button', { name: 'Try now: down' }).waitFor();
    await open('/destinations');
    await page.getByRole('button', { name: 'Try now: down' }).click();
    await page.getByText('down is tried now.').waitFor();

    await open('/integrations/circuit-open');
    await page.getByRole('button', { name: 'Try now: circuit-open' }).first().waitFor();
    const [run] = (await setup.api<Listed>('GET', '/runs?integration=circuit-open')).items;
    await open(`/runs/${run?.run_id}`);
    await page.getByRole('button', { name: 'Try now: circuit-open' }).click();
    await page.getByText('1 waiting run continued.').waitFor();

    await open('/integrations/auth-failing');
    assert.match(await main(), /when resumed/);
    accepts = true;
    await page.getByRole('button', { name: 'Test and resume: auth-failing' }).click();
    await page.getByText('The partner accepts the credentials. Pulling resumes now.').waitFor();
    await until('it pulls again', async () => (await brandNow('auth-failing')).state !== 'auth_failed');
  });

  test('the browser reported no error', () => {
    // A brand without an endpoint: the page asks for it and gets 404.
    const errors = setup.complaints.filter((text) => !text.includes('404') && !text.includes('409'));
    assert.deepEqual(errors, []);
  });
});
