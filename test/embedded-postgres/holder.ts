/**
 * A process that uses a workspace's private PostgreSQL, for tests that need several of them, or one to kill.
 * Arguments: workspace, purpose, and for root the account. Prints one JSON line per event on stdout, and releases the server at the end of stdin.
 */
import { text } from 'node:stream/consumers';
import { InnboundError } from '../../src/errors.ts';
import { openPrivatePostgres, type PrivateOptions } from '../../src/operator/embedded-postgres/open.ts';

const [workspace = '', purpose, asRoot] = process.argv.slice(2);
const say = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);

try {
  const postgres = await openPrivatePostgres(workspace, {
    purpose: purpose as PrivateOptions['purpose'],
    describe: 'serve on port 4180',
    ...(asRoot === undefined ? {} : { asRoot: asRoot as 'namespace' | 'nobody' }),
  });
  postgres.onLost((event) => say({ event: event.kind }));
  say({ event: 'open', connection: postgres.connection, dataDir: postgres.dataDir, uid: process.getuid?.() });
  await text(process.stdin);
  await postgres.release();
  say({ event: 'released' });
} catch (error) {
  if (!(error instanceof InnboundError)) throw error;
  say({ event: 'error', code: error.code, message: error.message, detail: error.detail });
  process.exitCode = 1;
}
