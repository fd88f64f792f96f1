import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { superuser } from '../../../src/operator/embedded-postgres/cluster.ts';
import { openPrivatePostgres, type PrivatePostgres } from '../../../src/operator/embedded-postgres/open.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { openRuntime } from '../../../src/operator/operations/open-runtime.ts';
import { type Service, startService } from '../../../src/service.ts';
import { until } from '../../support/process.ts';
import { brandId, eventBody, integration, postEvent } from './support.ts';

/** A primary, and a standby that was copied from it before the test began. */
test('after a failover a web node accepts webhooks without a restart', async (t) => {
  const root = await mkdtemp(path.join(os.tmpdir(), 'ib-fo-'));
  const [primaryDir, standbyDir] = [path.join(root, 'a'), path.join(root, 'b')];
  await writeWorkspace(primaryDir);
  const first = await openRuntime({
    env: {},
    workspaceDir: primaryDir,
    purpose: 'command',
    describe: 'test',
    apply: 'always',
  });
  const { endpoint_id: endpointId, secret = '' } = await addressFor(first, integration);
  await first.close();
  await cp(primaryDir, standbyDir, { recursive: true, verbatimSymlinks: true });

  const primary = await openPrivatePostgres(primaryDir, { purpose: 'command', describe: 'test' });
  const standby = await openPrivatePostgres(standbyDir, { purpose: 'command', describe: 'test' });
  let service: Service | undefined;
  // In this order: a service that still runs may write into its folder while it is removed.
  t.after(async () => {
    await service?.stop();
    await Promise.all([primary.release(), standby.release()]);
    await rm(root, { recursive: true, force: true });
  });
  await makeReadOnly(standby, true);
  const { user, database } = primary.connection;
  const hosts = [primary, standby].map(({ connection }) => `${encodeURIComponent(connection.host)}:${connection.port}`);
  const env = {
    DATABASE_URL: `postgres://${user}@${hosts.join(',')}/${database}?sslmode=disable`,
    INNBOUND_LOG_LEVEL: 'silent',
  };
  service = await startService({ env, workspaceDir: primaryDir, host: '127.0.0.1', port: 0, role: 'web' });
  const { url, runtime } = service;

  const post = async (eventId: string): Promise<number> => {
    const response = await postEvent(url, { endpointId, secret }, eventBody({ event_id: eventId }));
    await response.text();
    return response.status;
  };
  assert.equal(await post('before'), 202);

  await makeReadOnly(primary, true);
  await makeReadOnly(standby, false);
  await until('the node is ready on the new primary', async () => (await fetch(`${url}/readyz`)).ok);
  assert.equal(await post('after'), 202, 'a ready node accepts webhooks');
  const { rows } = await runtime.pool.query('select event_id from events order by seq');
  assert.deepEqual(rows, [{ event_id: 'after' }], 'the event is on the new primary');
});

async function writeWorkspace(dir: string): Promise<void> {
  const files = {
    'innbound.yaml': '',
    'connectors/acme-pms.yaml': 'connector: acme-pms\nshape: { root_path: reservations }\n',
    [`integrations/${integration}.yaml`]: `integration: ${integration}\nconnector: acme-pms\nbrand_id: ${brandId}\ntimezone: Europe/Lisbon\npush: { enabled: true }\n`,
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
}

/** A demotion or a promotion as clients see it: connections end, and writes are refused or allowed. */
async function makeReadOnly(server: PrivatePostgres, readOnly: boolean): Promise<void> {
  const client = new pg.Client({ ...server.connection, user: superuser });
  await client.connect();
  await client.query(`alter system set default_transaction_read_only = ${readOnly ? 'on' : 'off'}`);
  await client.query('select pg_reload_conf()');
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name like 'innbound service%'`,
  );
  await client.end();
}
