import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { destinationType as clickhouse } from '../../../src/core/deliver/destinations/clickhouse/destination.ts';
import { conformance } from '../conformance.ts';
import { limits } from '../destinations/postgres/support.ts';
import { delivery, reservation, services } from '../support.ts';
import { noChdb, startClickhouse } from './chdb.ts';
import { warehouse } from './subject.ts';

describe('clickhouse', { skip: noChdb }, () => {
  let server: Awaited<ReturnType<typeof startClickhouse>>;
  let count = 0;
  before(async () => {
    server = await startClickhouse();
  });
  after(() => server.stop());

  conformance(
    'clickhouse',
    async () => {
      const name = `stays${++count}`;
      return warehouse(
        clickhouse,
        { url: server.url(name) },
        {
          effects: async () =>
            server.ask(
              `select * from ${name}.reservations final order by loaded_at settings output_format_json_quote_decimals = 1`,
            ),
          refuse: async (id) =>
            void server.ask(`alter table ${name}.reservations add constraint refused check id <> '${id}'`),
          close: async () => {},
        },
      );
    },
    { batch: 100, scheduleMs: Array.from({ length: 60 }, () => 1_000) },
  );

  test('an erasure counts when no part of the table has the guest any more', async (t) => {
    const offered = services('/');
    const destination = clickhouse.open(clickhouse.settings.parse({ url: server.url('erased') }), offered);
    t.after(async () => {
      await destination.close();
      await offered.close();
    });
    const first = delivery(reservation('r'));
    assert.equal((await destination.deliver([first], limits))[0]?.kind, 'delivered');
    const erasure = delivery({ ...reservation('r'), guests: [] }, { event: 'erased', version: 2 });
    const [tried] = await destination.deliver([erasure], limits);
    assert.equal(tried?.kind, 'retry', 'the old part is still there');
    assert.ok(tried?.kind === 'retry' && tried.free);
    const parts = () =>
      server.ask(`select name from system.parts where database = 'erased' and table = 'reservations' and not active`);
    for (;;) {
      const [outcome] = await destination.deliver([erasure], limits);
      if (outcome?.kind === 'delivered') break;
      assert.ok(parts().length > 0);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    const rows = server.ask('select id, version, guests from erased.reservations final');
    assert.deepEqual(rows, [{ id: 'r', version: 2, guests: null }]);
  });
});
