import { type DestinationStream, type Logger, pino } from 'pino';
import { isConnectionFailure } from './sql-state.ts';

export type Log = Logger;

/** JSON lines on standard error: standard output belongs to commands' results. Callers pass ids, counts and codes, never payloads. */
export function openLog(level: string, destination: DestinationStream = openDestination(2)): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' }, destination);
}

/** For errors whose message may quote data. */
export const errorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/**
 * An error for the log: its name, its code and where it was thrown. Not its message, because PostgreSQL and JSON.parse quote the value that
 * they refuse; only a lost connection is described by its message.
 */
export function errorFacts(error: unknown): string {
  if (!(error instanceof Error)) return errorName(error);
  if (isConnectionFailure(error) && error.message !== '') return error.message;
  const { code } = error as { code?: unknown };
  const frames = (error.stack ?? '').replace(error.message, '');
  const place = /\n\s+at [^\n]*?((?:[\w-]+\/)?[\w.-]+\.[jt]s:\d+)/.exec(frames)?.[1];
  return [
    error.name,
    ...(typeof code === 'string' && /^[\w.]{1,60}$/.test(code) ? [code] : []),
    ...(place === undefined ? [] : [`at ${place}`]),
  ].join(' ');
}

/** Lines that cannot be written, such as on a full disk, are lost: logging must not end the process. */
export function openDestination(dest: number | string): DestinationStream {
  const destination = pino.destination({ dest, sync: true });
  destination.on('error', () => {});
  return destination;
}
