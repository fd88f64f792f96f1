import { ended } from '../../packages/partner-kit/src/terminal/ended.ts';
import { openPrivatePostgres, type PrivatePostgres } from '../embedded-postgres/open.ts';
import { type ErrorCode, errors, InnboundError } from '../errors.ts';
import { type ChildFailure, type Report, startChildren } from '../kit/child-processes.ts';
import { systemClock } from '../kit/clock.ts';
import { openLog } from '../kit/log.ts';
import type { ServeOptions } from './serve.ts';
import type { Part } from './serve-part.ts';
import { sayFinishing, sayReady, stopInTime } from './serving.ts';

/** Each process opens up to 29 connections; the private server allows 200. */
const mostOnPrivateServer = 6;

/**
 * Runs the service as several processes behind one port. This process holds the port and the private PostgreSQL, if there is one, and
 * does no other work. The first process migrates the database and applies the documents; the others start after it.
 */
export async function serveProcesses(options: ServeOptions): Promise<void> {
  const end = ended();
  const log = openLog(process.env.INNBOUND_LOG_LEVEL || 'info');
  const server = process.env.DATABASE_URL ? undefined : await openServer(options);
  const lost = Promise.withResolvers<InnboundError>();
  // The processes report an outage of the server as well; this one only has to know that it must stop.
  server?.onLost((event) => event.kind === 'held' && lost.resolve(event.error));
  const children = startChildren<Part>({
    count: options.processes,
    job: (number, isFirst) => ({ number, isFirst, ...(server && { connection: server.connection }) }),
    isPassing: ({ code }) => !isKnown(code) || errors[code].retry === 'again',
    clock: systemClock,
    log,
  });
  void children.ready.then((url) => sayReady(url, options.role));
  const failure = await Promise.race([end, lost.promise, children.failed.then(failureOf)]);
  sayFinishing();
  await stopInTime({
    stop: async () => {
      await children.stop();
      await server?.release();
    },
  });
  if (failure) throw failure;
}

async function openServer({ workspace, port, processes }: ServeOptions): Promise<PrivatePostgres> {
  if (processes > mostOnPrivateServer) {
    throw new InnboundError(
      'operate.usage',
      `The private PostgreSQL has connections for ${mostOnPrivateServer} processes. For more, set DATABASE_URL to your own server.`,
    );
  }
  return openPrivatePostgres(workspace, { purpose: 'service', describe: `serve on port ${port}` });
}

/** The error of the process, as if it had happened here. */
function failureOf({ number, report, ended: how }: ChildFailure): Error {
  if (report === undefined) {
    return new InnboundError('operate.process_failed', `Process ${number} of the service ended with ${how}.`);
  }
  if (isKnown(report.code)) return new InnboundError(report.code, report.message, report.detail);
  return Object.assign(new Error(report.message), { stack: report.message });
}

const isKnown = (code: Report['code']): code is ErrorCode => code !== undefined && Object.hasOwn(errors, code);
