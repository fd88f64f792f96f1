import type { EpochMs } from '../../terms.ts';
import type { SignatureCheck, TimestampFormat } from './verification.ts';

/** Refuses a time that is missing, malformed, or further from our clock than the tolerance. */
export function outOfWindow(
  timestamp: string | undefined,
  toleranceS: number,
  now: EpochMs,
  format: TimestampFormat = 'seconds',
): SignatureCheck | undefined {
  if (timestamp === undefined || timestamp === '') return { kind: 'refused', reason: 'timestamp_missing' };
  const statedS = secondsIn(timestamp, format);
  if (statedS === undefined) return { kind: 'refused', reason: 'timestamp_malformed' };
  const skewS = Math.floor(now / 1000) - statedS;
  if (skewS > toleranceS) return { kind: 'refused', reason: 'timestamp_old', skewS };
  if (skewS < -toleranceS) return { kind: 'refused', reason: 'timestamp_ahead', skewS };
  return undefined;
}

/** Whole seconds or milliseconds only: signs, blanks, fractions, leading zeros and the other unit are malformed. */
function secondsIn(timestamp: string, format: TimestampFormat): number | undefined {
  if (format === 'seconds') return /^[1-9][0-9]{0,10}$/.test(timestamp) ? Number(timestamp) : undefined;
  if (format === 'milliseconds') {
    return /^[1-9][0-9]{11,13}$/.test(timestamp) ? Math.floor(Number(timestamp) / 1000) : undefined;
  }
  const isInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(timestamp);
  const ms = isInstant ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
