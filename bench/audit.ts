import { deliverPorts } from '../src/composition/deliver.ts';
import { drainOnce } from '../src/core/deliver/deliveries.ts';
import { type AuditStep, auditStep, beginAudit, openAudit } from '../src/operator/operations/audit.ts';
import { apiNode, reservation } from '../test/api/node.ts';
import { testDatabase } from '../test/support/database.ts';

/**
 * Reservations against a PostgreSQL warehouse that has them all: how many an audit compares in a second, and how much memory it takes beyond that
 * of its first page. `audit 1000000`; 20,000 by default. The records are copied within the two databases, so that filling them takes seconds.
 */
export async function run([count = '20000']: readonly string[]): Promise<void> {
  const wanted = Number(count);
  const db = await testDatabase({ empty: true });
  const node = await apiNode('', {
    'integrations/grand.yaml':
      'integration: grand\nconnector: hotel\nbrand_id: LIS01\ntimezone: UTC\npush: { enabled: true }\ndeliver: [warehouse]\n',
    'destinations/warehouse.yaml': `destination: warehouse\ntype: postgres\nurl: ${db.url}\n`,
  });
  const { pool } = node.runtime;
  await node.take('grand', reservation('R0', { rooms: [{ room_type: 'DBL', adults: 2 }] }));
  await drainOnce(await deliverPorts(node.runtime));
  const copies = `select 'R' || n from generate_series(1, ${wanted - 1}) n`;
  const copy = async (db: typeof pool, table: string, id: string, data = '') => {
    const { rows } = await db.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [table],
    );
    const names = rows.map(({ name }) => name);
    const cells = names.map((name) =>
      name === id ? 'c.id' : name === data ? `jsonb_set(t.data::jsonb, '{id}', to_jsonb(c.id))::json` : `t.${name}`,
    );
    await db.query(
      `insert into ${table} (${names.join(', ')}) select ${cells.join(', ')} from ${table} t, (${copies}) c (id) where t.${id} = 'R0'`,
    );
    await db.query(`analyze ${table}`);
  };
  await copy(pool, 'records', 'id', 'data');
  await copy(pool, 'outbox', 'id');
  const { openPool } = await import('../src/core/store/db/pool.ts');
  const warehouse = openPool({ connection: db.connection, applicationName: 'bench', statementMs: 600_000 });
  for (const [table, id] of [
    ['reservations', 'id'],
    ['guests', 'reservation_id'],
    ['rooms', 'reservation_id'],
  ] as const)
    await copy(warehouse, `innbound.${table}`, id);
  await warehouse.end();

  const audit = await openAudit(node.runtime, { destination: 'warehouse' });
  const { signal } = new AbortController();
  const startedAt = performance.now();
  let mostMb = 0;
  let firstMb = 0;
  let last: AuditStep | undefined;
  for (let state: AuditStep['state'] = await beginAudit(audit); state !== undefined; ) {
    last = await auditStep(audit, state, signal);
    state = last.state;
    const mb = process.memoryUsage().rss / 2 ** 20;
    firstMb ||= mb;
    mostMb = Math.max(mostMb, mb);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { compared = 0, equal = 0 } = last?.finished?.counts ?? {};
  const rate = Math.round(compared / seconds).toLocaleString('en');
  console.log(
    `${equal} of ${compared} equal in ${seconds.toFixed(1)} s: ${rate}/s; memory ${Math.round(firstMb)} MB after the first page, ${Math.round(mostMb)} MB at most`,
  );
  await audit.holdings.close();
  await node.stop();
}
