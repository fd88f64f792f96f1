import { localDateAt } from '../canonical/values.ts';

const dayMs = 86_400_000;

/**
 * The property's date of a moment. Midnight UTC is a date that a system wrote as a moment: west of Greenwich it would become the day
 * before. Written with another offset, the same moment is a time of day. `writtenMs` may have a fraction.
 */
export function dateOfMoment(writtenMs: number, offset: number, timezone: string): string {
  const isDate = offset === 0 && writtenMs % dayMs === 0;
  return localDateAt(isDate ? 'UTC' : timezone, Math.floor(writtenMs) - offset);
}

/** Milliseconds ahead of UTC for a written offset: Z, +02:00, -0530, +02. */
export function offsetMs(text: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(text);
  if (!match) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return (match[1] === '-' ? -1 : 1) * minutes * 60_000;
}
