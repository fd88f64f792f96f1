import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InnboundError } from '../../errors.ts';
import { type Account, runAs } from './account.ts';
import type { Binaries } from './binaries.ts';

export const superuser = 'innbound';
export const databaseName = 'innbound';

/** Everyone who can reach the socket is trusted: only the server's account can enter its folder, so no password is needed. */
const hostBasedAccess = 'local all all trust\n';

/**
 * Creates a database cluster in `folder`, which must be missing or empty, with our database in it. The collation is the built-in
 * C.UTF-8, so an upgrade of the system's libraries cannot corrupt an index.
 */
export async function createCluster(
  binaries: Binaries,
  account: Account,
  folder: string,
  { durable }: { durable: boolean },
): Promise<void> {
  const env = binaries.loaderEnv;
  const made = await runAs(
    account,
    binaries.initdb,
    [
      `--pgdata=${folder}`,
      `--username=${superuser}`,
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync', '--wal-segsize=1']),
    ],
    { env },
  ).catch((cause: unknown) => cannotRun('initdb', cause));
  if (made.code !== 0) throw failed('initdb', made.output);
  await writeFile(path.join(folder, 'pg_hba.conf'), hostBasedAccess);

  const database = await runAs(
    account,
    binaries.postgres,
    ['--single', ...(durable ? [] : ['-F']), '-D', folder, 'postgres'],
    {
      env,
      input: `create database ${databaseName}\n`,
    },
  );
  if (database.code !== 0) throw failed('creating the database', database.output);
}

function failed(step: string, output: string): InnboundError {
  const last = output.trim().split('\n').slice(-6).join('\n');
  return new InnboundError('store.postgres_failed', `PostgreSQL's data folder could not be created: ${step}: ${last}`, {
    step,
  });
}

function cannotRun(program: string, cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new InnboundError(
    'store.postgres_failed',
    `PostgreSQL's ${program} cannot be run: ${reason}`,
    { program },
    cause,
  );
}
