import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** JSON lines on standard error: standard output belongs to commands' results. Callers pass ids, counts and codes, never payloads. */
export function openLog(level: string, destination: DestinationStream = openDestination(2)): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' }, destination);
}

/** For errors whose message may quote data. */
export const errorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/** Lines that cannot be written, such as on a full disk, are lost: logging must not end the process. */
export function openDestination(dest: number | string): DestinationStream {
  const destination = pino.destination({ dest, sync: true });
  destination.on('error', () => {});
  return destination;
}
