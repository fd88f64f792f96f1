import type { EpochMs } from '../../terms.ts';

export const mostTries = 5;
const firstDelayMs = 2_000;
const longestDelayMs = 60_000;

/** Exponential with full jitter: anything between nothing and the bound, so that nodes that failed together do not come back together. */
export function backoffMs(failures: number, random: number): number {
  return Math.round(random * Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1)));
}

/** What a partner may ask us to wait: less than a second is no rest, more than an hour would pass for an outage. */
const waitBounds = { leastMs: 1_000, mostMs: 3_600_000 } as const;

/** Retry-After in seconds or as an HTTP date; undefined when there is none that can be read. */
export function retryAfterMs(header: string | undefined, now: EpochMs): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) return clamp(Math.ceil(Number(text) * 1000));
  const at = httpDate(text);
  return at === undefined ? undefined : clamp(at - now);
}

function clamp(ms: number): number {
  return Math.min(waitBounds.mostMs, Math.max(waitBounds.leastMs, ms));
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const forms = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  /^\w{3},\s+(?<day>\d{1,2})\s+(?<month>\w{3})\s+(?<year>\d{4})\s+(?<time>\d{2}:\d{2}:\d{2})\s+(?:GMT|UTC)$/i,
  // Sunday, 06-Nov-94 08:49:37 GMT
  /^\w+,\s+(?<day>\d{1,2})-(?<month>\w{3})-(?<year>\d{2})\s+(?<time>\d{2}:\d{2}:\d{2})\s+(?:GMT|UTC)$/i,
  // Sun Nov  6 08:49:37 1994
  /^\w{3}\s+(?<month>\w{3})\s+(?<day>\d{1,2})\s+(?<time>\d{2}:\d{2}:\d{2})\s+(?<year>\d{4})$/i,
];

/** The three forms of RFC 9110, and ISO 8601, which partners send too. Date.parse alone would read "5 minutes" as a date. */
function httpDate(text: string): EpochMs | undefined {
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const month = months.indexOf((parts.month ?? '').toLowerCase());
    const year = Number(parts.year) + (parts.year?.length === 2 ? 2000 : 0);
    const [hour = 0, minute = 0, second = 0] = (parts.time ?? '').split(':').map(Number);
    if (month >= 0) return Date.UTC(year, month, Number(parts.day), hour, minute, second);
  }
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
