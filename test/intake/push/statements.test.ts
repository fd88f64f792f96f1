import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activeIntegration, data, poll, reservationData, withBench } from './events-support.ts';

/** A statement is planned once per connection, often while its tables are new: the plan must also suit a large brand. */
test('no statement reads all events or records of a brand, whatever the statistics say', () =>
  withBench(async (bench) => {
    const active = activeIntegration();
    const changed = (channel: string) => bench.newEvent('reservation.updated', data({ channel }));
    await bench.arrive(bench.newEvent('reservation.created', data()));
    await bench.arrive(changed('phone'));
    await bench.arrive(changed('phone'));
    await bench.arrive(bench.newEvent('reservation.updated', data({ check_in: '2026-09-30' })));
    for (let n = 0; n < 6; n++) await bench.arrive(changed(`desk ${n}`));
    for (let n = 0; n < 6; n++) await bench.send('reservation.updated', data({ channel: `mail ${n}` }));
    await bench.work();
    // PostgreSQL plans each of the first five executions, and later ones only if a plan for their values looks cheaper.
    const { rows: planned } = await bench.pool.query(
      'select name from pg_prepared_statements where custom_plans > 5 order by name',
    );
    assert.deepEqual(planned, [], 'planned again for every batch');
    await bench.send('reservation.updated', data({ channel: 'fax' }));
    await bench.work();
    await poll(bench, active, Date.now(), { ...reservationData(), id: 'R-1001', channel: 'desk' });
    const { rows: statements } = await bench.pool.query<{ name: string; statement: string }>(
      'select name, statement from pg_prepared_statements order by name',
    );
    const names = new Set(statements.map(({ name }) => name));
    const expected = [
      'check-events',
      'insert-events',
      'insert-events-alone',
      'lock-idle',
      'next-events',
      'settle-events',
      'update-records',
      'known-rows',
    ];
    for (const name of [...expected, 'update-states']) {
      assert.ok(names.has(name), `${name} was not sent on this connection`);
    }
    const wide: string[] = [];
    for (const pageCost of [1.1, 4]) {
      await bench.pool.query(`set random_page_cost = ${pageCost}`);
      for (const { name, statement } of statements) {
        const { rows } = await bench.pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${statement}`);
        const lines = rows.map((row) => row['QUERY PLAN'].trim());
        for (const [i, line] of lines.entries()) {
          const isWhole = /Seq Scan on (?:events|records|outbox|history|endpoint)/.test(line);
          const isBrand =
            / on (?:events|records|outbox) /.test(line) && /Cond: \(integration = \$\d+\)$/.test(lines[i + 1] ?? '');
          if (isWhole || isBrand) wide.push(`${name} at ${pageCost}: ${line}`);
        }
      }
    }
    assert.deepEqual(wide, []);
  }));
