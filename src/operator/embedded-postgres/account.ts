import { spawn } from 'node:child_process';

/**
 * The account that the PostgreSQL programs run under. They refuse to run as root; for root there are two alternatives:
 *
 * self       the caller's own account: everyone except root
 * namespace  a user namespace in which root appears as nobody. The real uid stays 0, so data and programs may be in folders of
 *            mode 0700 such as /root
 * user       another uid and gid, where namespaces are forbidden (most containers): it must be able to reach data and programs
 */
export type Account =
  | { readonly kind: 'self' }
  | { readonly kind: 'namespace' }
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number };

export const self: Account = { kind: 'self' };
const nobody: Account = { kind: 'user', uid: 65534, gid: 65534 };

const asNobody = ['--user', '--map-user=65534', '--map-group=65534', '--'];

/** `force` lets tests use the alternative that this machine would not choose. */
export async function chooseAccount(force?: 'namespace' | 'nobody'): Promise<Account> {
  if (process.getuid?.() !== 0) return self;
  if (force === 'nobody') return nobody;
  const namespace: Account = { kind: 'namespace' };
  if (force === 'namespace') return namespace;
  const tried = await runAs(namespace, '/bin/true', []).catch(() => undefined);
  return tried?.code === 0 ? namespace : nobody;
}

/** How to spawn `file` under the account. `unshare` execs the program, so the pid is the program's own. */
export function invocation(account: Account, file: string, args: readonly string[]) {
  // The account may have no access to the caller's folder, and initdb fails if it cannot determine its working directory.
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
  /** The last 16 KiB of stdout and stderr, interleaved. */
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
  // A program may exit without reading its input; its exit code decides.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  child.on('error', reject);
  child.on('close', (code) => resolve({ code, output }));
  return promise;
}

/** The minimal environment: PGDATA, PGOPTIONS or LC_ALL of the caller must not affect the server. */
export function programEnv(more: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...more };
}

export async function canReach(account: Account, folder: string): Promise<boolean> {
  if (account.kind !== 'user') return true;
  const finished = await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder]).catch(() => undefined);
  return finished?.code === 0;
}
