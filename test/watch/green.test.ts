import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { writeRejections } from '../../src/core/store/events/rejections.ts';
import { metricsOf } from '../../src/operator/api/node-metrics.ts';
import { healthOf } from '../../src/operator/operations/health.ts';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { countEvidence } from '../../src/operator/store/measures/evidence.ts';
import { alertKinds } from '../../src/operator/watch/facts.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { innbound } from '../support/process.ts';

/** Health is computed once; every place that shows it must agree, and none may be green with an open alert. */
describe('green is true', () => {
  let node: ApiNode;
  let token: string;
  before(async () => {
    node = await apiNode();
    token = await node.token('viewer');
    await node.runtime.pool.query(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, finished_at)
       select n, 'run_' || n, 'stay', 'scheduled', 'complete', 'test', now() from unnest(array['grand', 'other']) n`,
    );
    for (const name of ['grand', 'other']) await stored(name);
  });
  after(() => node.stop());

  /** Twelve bookings of a brand, delivered a moment ago; `email` of none of them, or of all. */
  const stored = async (name: string, { count = 12, email = true, delivered = 12 } = {}) => {
    const guests = email ? undefined : [{ first_name: 'Ana', last_name: 'Exemplo' }];
    const bookings = Array.from({ length: count }, (_, i) => reservation(`S${i}`, guests && { guests }));
    await query(`delete from records where integration = $1`, [name]);
    if (count > 0) await node.take(name, ...bookings);
    await query(`delete from activity where integration = $1`, [name]);
    await query(
      `insert into activity (integration, step, at, changes, delivered) values ($1, 'ever', 'epoch', $2, $3),
                                                                               ($1, '10s', now(), $2, $3)`,
      [name, count, delivered],
    );
    await query(`delete from outbox where integration = $1`, [name]);
    while ((await countEvidence(node.runtime.pool)) > 0);
  };
  const query = (sql: string, values: unknown[] = []) => node.runtime.pool.query(sql, values);
  const refusal = { endpointId: 'ep', code: 'push.unauthorized', reason: 'signature_wrong' };
  const refuse = (integration: string, count: number, at = Date.now()) =>
    writeRejections(node.runtime.pool, [
      {
        ...refusal,
        integration,
        count,
        newest: Array.from({ length: count }, (_, i) => ({
          ...refusal,
          integration: integration as never,
          at: at + i,
          status: 401,
          requestId: `r${i}`,
          headerNames: [],
          bodyBytes: 10,
          address: '127.0.0.1',
        })),
      },
    ]);

  /** The state of a brand in each place that shows one. */
  const everywhere = async (name: string) => {
    const [[judged], overview, list, one, metrics, command] = await Promise.all([
      healthOf(node.runtime, [name]),
      node.call('GET', '/overview', token),
      node.call('GET', '/integrations', token),
      node.call('GET', `/integrations/${name}`, token),
      metricsOf(node.runtime).text(),
      innbound(['status', name, '--json', '-w', node.runtime.workspaceDir], { env: node.env }),
    ]);
    const named = (items: { name?: string; integration?: string; state: string }[]) =>
      items.find((item) => (item.name ?? item.integration) === name)?.state;
    return {
      judged: judged?.state,
      overview: named(overview.body.health),
      list: named(list.body.items),
      page: one.body.state,
      metrics: new RegExp(`innbound_brand_state\\{integration="${name}",state="(\\w+)"\\} 1`).exec(metrics)?.[1],
      command: command.json()[0]?.state,
    };
  };

  test('every place that shows the health of a brand shows the same', async () => {
    assert.deepEqual(new Set(Object.values(await everywhere('grand'))), new Set(['healthy']));
    await refuse('grand', 25);
    assert.deepEqual(new Set(Object.values(await everywhere('grand'))), new Set(['failing']));
  });

  test('no place is green on nothing: no booking, none with an e-mail, none delivered', async () => {
    await query(`delete from rejections`);
    for (const [facts, state, why] of [
      [{ count: 0 }, 'new', /No booking has come yet/],
      [{ delivered: 0 }, 'new', /12 bookings stored, none of them delivered yet/],
      [{ email: false }, 'attention', /None of 12 bookings has an e-mail address/],
    ] as const) {
      await stored('grand', facts);
      assert.deepEqual(new Set(Object.values(await everywhere('grand'))), new Set([state]));
      assert.match(
        (await innbound(['status', 'grand', '-w', node.runtime.workspaceDir], { env: node.env })).stdout,
        why,
      );
    }
    await stored('grand');
    await refuse('grand', 25);
  });

  test('25 of 25 webhooks refused: red with the remedy, an alert, amber between accepted ones, and green when they are accepted', async () => {
    const [red] = await healthOf(node.runtime, ['grand']);
    assert.equal(red?.findings[0]?.kind, 'webhooks_refused');
    assert.match(
      red?.findings[0]?.message ?? '',
      /25 webhooks were refused.*The signature is wrong.*Rotate the secret/s,
    );
    await watchOnce(node.runtime);
    const { rows } = await query(
      `select severity, message from alerts where kind = 'webhooks_refused' and resolved_at is null`,
    );
    assert.equal(rows.length, 1);
    assert.equal(rows[0].severity, 'critical');
    const accept = async (from: number, to: number) => {
      for (let i = from; i < to; i += 1) await node.send('grand', 'reservation.created', reservation(`R${i}`));
    };
    await accept(0, 12);
    const [half] = await healthOf(node.runtime, ['grand']);
    assert.equal(half?.state, 'attention', 'eight of the last 20 were refused');
    assert.match(half.findings[0]?.message ?? '', /25 webhooks were refused in the last 24 hours, 8 of the last 20\./);
    await accept(12, 19);
    await watchOnce(node.runtime);
    const [green] = await healthOf(node.runtime, ['grand']);
    assert.doesNotMatch(JSON.stringify(green?.findings), /refused/);
    assert.equal(
      (await query(`select from alerts where kind = 'webhooks_refused' and resolved_at is null`)).rowCount,
      0,
    );
  });

  test('one refusal is worth a look; refusals of yesterday are not', async () => {
    await refuse('other', 1);
    assert.equal((await healthOf(node.runtime, ['other']))[0]?.state, 'attention');
    await query(`delete from rejections where integration = 'other'`);
    await refuse('other', 1, Date.now() - 25 * 3_600_000);
    assert.equal((await healthOf(node.runtime, ['other']))[0]?.state, 'healthy');
  });

  test('no brand with an open alert of any kind is healthy', async () => {
    await query('delete from alerts');
    for (const kind of alertKinds) {
      for (const [integration, brands, subject] of [
        ['other', null, ''],
        ['', ['other', 'elsewhere'], ''],
        ...(['destination_away', 'destination_failing'].includes(kind) ? ([['', null, 'lake']] as const) : []),
      ] as const) {
        await query(
          `insert into alerts (alert_id, kind, integration, subject, severity, message, brands) values ('alr_1', $1, $2, $3, 'warning', 'Look at elsewhere.', $4)`,
          [kind, integration, subject, brands],
        );
        const [found] = await healthOf(node.runtime, ['other']);
        // A partner who waits for an answer is nothing wrong with the brand.
        assert.equal(found?.state, kind === 'partner_waiting' ? 'healthy' : 'attention', `${kind} ${integration}`);
        const listed = await node.call('GET', '/integrations/other', token);
        assert.equal(listed.body.open_alerts, 1, `${kind} ${integration}`);
        if (brands) assert.doesNotMatch(JSON.stringify(found.findings), /elsewhere/);
        await query('delete from alerts');
      }
    }
  });

  test('the commands claim nothing that is not so', async () => {
    const command = (...args: string[]) => innbound([...args, '-w', node.runtime.workspaceDir], { env: node.env });
    const well = await command('status', 'other');
    assert.match(well.stdout, /other +healthy +lake 0 +12 bookings, 100 % with e-mail, last delivery \d{4}-/);
    assert.equal(well.code, 0);
    assert.match((await command('alerts')).stdout, /No open alerts/);
    await refuse('other', 25);
    await watchOnce(node.runtime);
    const ill = await command('status');
    assert.doesNotMatch(ill.stdout, /other +healthy/);
    assert.equal(ill.code, 1);
    assert.doesNotMatch((await command('alerts')).stdout, /No open alerts/);
    await query(`delete from rejections`);
    await watchOnce(node.runtime);
  });

  test('an alert about what a check already reports is not said twice', async () => {
    await query(`update runs set state = 'failed', error_code = 'pull.not_json' where integration = 'other'`);
    await watchOnce(node.runtime);
    const [found] = await healthOf(node.runtime, ['other']);
    assert.equal((await query(`select from alerts where kind = 'run_failed' and resolved_at is null`)).rowCount, 1);
    assert.deepEqual(
      found?.findings.map(({ message }) => message),
      ['The last stay run failed: The partner’s answer is not JSON.'],
    );
  });
});
