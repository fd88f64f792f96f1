import { spawn } from 'node:child_process';

/**
 * Who the PostgreSQL programs run as. They refuse root, so root has two ways:
 *
 * self       the caller's own account: everyone but root
 * namespace  a user namespace in which root looks like nobody. The real uid stays 0, so data and programs may lie in
 *            folders of mode 0700 such as /root
 * user       another uid and gid, where namespaces are forbidden (most containers): it has to reach data and programs
 */
export type Account =
  | { readonly kind: 'self' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number };

export const self: Account = { kind: 'self' };
const nobody: Account = { kind: 'user', uid: 65534, gid: 65534 };

const asNobody = ['--user', '--map-user=65534', '--map-group=65534', '--'];

/** `force` is for tests of the way that the machine at hand would not take. */
export async function chooseAccount(force?: 'namespace' | 'nobody'): Promise<Account> {
  if (process.getuid?.() !== 0) return self;
  if (force === 'nobody') return nobody;
  const namespace: Account = { kind: 'namespace' };
  if (force === 'namespace') return namespace;
  const tried = await runAs(namespace, '/bin/true', []).catch(() => undefined);
  return tried?.code === 0 ? namespace : nobody;
}

export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly uid?: number; readonly gid?: number; readonly cwd: string };
}

/** How to spawn `file` under the account. In a namespace unshare replaces itself by it: the pid is the program's own. */
export function invocation(account: Account, file: string, args: readonly string[]): Invocation {
  // The caller's folder may be closed to the account, and initdb gives up where it cannot tell its own folder.
  const cwd = '/';
  switch (account.kind) {
    case 'self':
      return { file, args, options: { cwd } };
    case 'namespace':
      return { file: 'unshare', args: [...asNobody, file, ...args], options: { cwd } };
    case 'user':
      return { file, args, options: { cwd, uid: account.uid, gid: account.gid } };
  }
}

export interface Finished {
  readonly code: number | null;
  /** stdout and stderr in the order they came, the last 16 KiB. */
  readonly output: string;
}

export function runAs(
  account: Account,
  file: string,
  args: readonly string[],
  { env = {}, input = '' }: { env?: Readonly<Record<string, string>>; input?: string } = {},
): Promise<Finished> {
  const call = invocation(account, file, args);
  const { promise, resolve, reject } = Promise.withResolvers<Finished>();
  const child = spawn(call.file, call.args, { ...call.options, env: programEnv(env), stdio: 'pipe' });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-16_384);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // A program that ends without reading its input is judged by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.on('error', reject);
  child.on('close', (code) => resolve({ code, output }));
  return promise;
}

/** Only what the programs need: a PGDATA, PGOPTIONS or LC_ALL of the caller must not change the server. */
export function programEnv(more: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...more };
}

export async function canReach(account: Account, folder: string): Promise<boolean> {
  if (account.kind !== 'user') return true;
  const finished = await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]).catch(() => undefined);
  return finished?.code === 0;
}
