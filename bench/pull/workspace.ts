import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { addDays } from '../../src/core/canonical/values.ts';
import { openPrivatePostgres, type PrivatePostgres } from '../../src/operator/embedded-postgres/open.ts';
import { openRuntime } from '../../src/operator/operations/open-runtime.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';
import type { LocalDate } from '../../src/terms.ts';
import { writeDocuments } from '../push/workspace.ts';
import { postmasterOf } from './cpu.ts';
import { type Paging, pullingConnectorText, pullingText } from './documents.ts';

export const firstDay = '2020-01-01';
export const lastDay = (reservations: number): string =>
  new Date(Date.parse(`${firstDay}T00:00:00Z`) + (Math.ceil(reservations / 100) - 1) * 86_400_000)
    .toISOString()
    .slice(0, 10);

/** The days of some of the partner's reservations. */
export interface Days {
  readonly from: LocalDate;
  readonly to: LocalDate;
}

/** `before` and `reservations` in hundreds: a day has 100. */
export const daysOf = (before: number, reservations: number): Days => ({
  from: (before === 0 ? firstDay : addDays(lastDay(before) as LocalDate, 1)) as LocalDate,
  to: lastDay(before + reservations) as LocalDate,
});

/** Stop when the parent process is gone. */
const signals = ['SIGINT', 'SIGTERM', 'disconnect'] as const;

export interface BenchWorkspace {
  readonly runtime: Runtime;
  readonly partnerUrl: string;
  /** Of the embedded PostgreSQL. */
  readonly postmaster: number;
  /** Connection to the destination's database. */
  readonly server: PrivatePostgres;
  close(): Promise<void>;
}

/** A workspace with a partner of this many reservations and a warehouse, on a durable embedded PostgreSQL. */
export async function openWorkspace(reservations: number, paging: Paging = 'cursor'): Promise<BenchWorkspace> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const partner = await startPartner(reservations);
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const { host, user, database } = server.connection as { host: string; user: string; database: string };
  process.env.BENCH_WAREHOUSE = `postgres://${user}@/${database}?host=${encodeURIComponent(host)}`;
  process.env.INNBOUND_ALLOW_PRIVATE_NETWORK = '1';
  await writeDocuments(folder, {
    'connectors/bench-pms.yaml': pullingConnectorText('bench-pms', paging),
    'integrations/bench.yaml': pullingText({
      name: 'bench',
      connector: 'bench-pms',
      brandId: 'B1',
      partnerUrl: partner.url,
      destination: 'warehouse',
    }),
    'destinations/warehouse.yaml': `destination: warehouse
type: postgres
url: "\${env:BENCH_WAREHOUSE}"
schema: warehouse
receives: [reservation]
`,
  });
  const runtime = await openRuntime({ workspaceDir: folder, purpose: 'command', describe: 'bench', apply: 'always' });
  const closed = async () => {
    partner.child.disconnect();
    await runtime.close();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  };
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= closed();
    return closing;
  };
  // Leave no server and no folder behind when interrupted.
  const stop = () => void close().finally(() => process.exit(1));
  for (const signal of signals) process.once(signal, stop);
  return {
    runtime,
    partnerUrl: partner.url,
    postmaster: postmasterOf(path.join(folder, '.innbound', 'pg')),
    server,
    close: () => {
      for (const signal of signals) process.off(signal, stop);
      return close();
    },
  };
}

async function startPartner(reservations: number): Promise<{ url: string; child: ChildProcess }> {
  const child = fork(new URL('./partner.ts', import.meta.url), [String(reservations)], { stdio: 'inherit' });
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, child };
}
