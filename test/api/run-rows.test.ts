import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { pullPorts } from '../../src/composition/pull.ts';
import { syncOnce } from '../../src/core/intake/pull/run/sync-once.ts';
import type { IntegrationName, Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

const day = (from: number) => new Date(Date.now() + from * 86_400_000).toISOString().slice(0, 10);
const stay = (id: string, more: { [key: string]: Json } = {}) =>
  reservation(id, { check_in: day(3), check_out: day(5), ...more });

describe('a run adds up', () => {
  let node: ApiNode;
  let viewer: string;
  let rows: Json[];
  const partner = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ reservations: rows }));
  });
  before(async () => {
    await new Promise<void>((ready) => partner.listen(0, '127.0.0.1', ready));
    const base = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
    node = await apiNode('', {
      'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: UTC
pull:
  base_url: ${base}
  auth: { type: none }
  syncs:
    pre_stay: { every: 15m, range: [+1d, +7d] }
push: { enabled: true }
transforms:
  - { when: 'confirmation_number == "TEST"', drop: true, note: no test bookings }
deliver: [lake]
`,
    });
    viewer = await node.token('viewer');
  });
  after(async () => {
    partner.close();
    await node.stop();
  });

  const pull = async () => {
    const request = {
      integration: 'grand' as IntegrationName,
      kind: 'manual',
      sync: 'pre_stay',
      requestedBy: 'test',
    } as const;
    const { runId } = await syncOnce(pullPorts(node.runtime), request);
    return (await node.call('GET', `/runs/${runId}`, viewer)).body;
  };
  const rowsOf = async (run: string, outcome: string) =>
    (await node.call('GET', `/runs/${run}/rows?outcome=${outcome}`, viewer)).body.items;
  const outcomes = ['changed', 'unchanged', 'superseded', 'skipped', 'dropped', 'dead', 'held'] as const;
  const counter = { dead: 'dead_lettered' } as Readonly<Record<string, string>>;

  test('every fetched row has one outcome, and each outcome leads to its rows', async () => {
    rows = [stay('R1'), stay('R2'), stay('R3')];
    const first = await pull();
    assert.deepEqual([first.fetched, first.changed], [3, 3]);
    rows = [
      stay('R1'),
      stay('R2', { total_amount: 99 }),
      stay('R4'),
      stay('R5', { confirmation_number: 'TEST' }),
      stay('R6', { check_out: day(1) }),
      stay('R7', { check_in: day(-3), check_out: day(-1), status: 'checked_out' }),
      { confirmation_number: 'without an id' },
    ];
    const run = await pull();
    assert.equal(run.fetched, 7);
    const sum = outcomes.reduce((all, outcome) => all + run[counter[outcome] ?? outcome], 0);
    assert.equal(sum, run.fetched);
    const found: Record<string, (string | null)[]> = {};
    for (const outcome of outcomes) {
      const items = await rowsOf(run.run_id, outcome);
      assert.equal(items.length, run[counter[outcome] ?? outcome], outcome);
      found[outcome] = items.map(({ id }: { id: string | null }) => id);
    }
    assert.deepEqual(found, {
      changed: ['R2', 'R4'],
      unchanged: ['R1'],
      superseded: [],
      skipped: ['R7'],
      dropped: ['R5'],
      dead: [null, 'R6'],
      held: [],
    });
    const [dropped] = await rowsOf(run.run_id, 'dropped');
    assert.match(dropped.reason, /no test bookings/);
    const [, dead] = await rowsOf(run.run_id, 'dead');
    assert.match(dead.reason, /check_out must not be before check_in/);
    assert.match(dead.dead_letter_id, /^\d+$/);
  });

  test('an older run still knows what became a dead letter again later', async () => {
    const { items } = (await node.call('GET', '/runs?limit=1', viewer)).body;
    await pull();
    const again = await rowsOf(items[0].run_id, 'dead');
    assert.deepEqual(
      again.map(({ id }: { id: string }) => id),
      ['R6'],
    );
  });

  test('a caller who may not see the brand gets nothing of its runs', async () => {
    const { items } = (await node.call('GET', '/runs?limit=1', viewer)).body;
    const other = await node.token('viewer', ['other']);
    assert.equal((await node.call('GET', `/runs/${items[0].run_id}/rows?outcome=changed`, other)).status, 404);
  });
});
