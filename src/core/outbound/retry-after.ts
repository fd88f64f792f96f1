interface WaitBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

const upToADay: WaitBounds = { leastMs: 0, mostMs: 24 * 3_600_000 };

/** More seconds than this are Unix time: September 2001. */
const leastUnixTime = 1_000_000_000;

/** The wait that a Retry-After header asks for, in seconds, as Unix time or as a date, within the bounds; undefined if it cannot be read. */
export function retryAfterMs(
  header: string | null | undefined,
  nowMs: number,
  { leastMs, mostMs }: WaitBounds = upToADay,
): number | undefined {
  const text = header?.trim() ?? '';
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  const askedMs =
    seconds === undefined
      ? dateMs(text) - nowMs
      : seconds < leastUnixTime
        ? Math.ceil(seconds * 1_000)
        : Math.ceil(seconds > 1_000 * leastUnixTime ? seconds : seconds * 1_000) - nowMs;
  return Number.isNaN(askedMs) ? undefined : Math.min(Math.max(askedMs, leastMs), mostMs);
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

/** The three date forms of RFC 9110, and ISO 8601, which some servers send. Date.parse alone reads "5 minutes" as a date. */
function dateMs(text: string): number {
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const month = months.indexOf((parts.month ?? '').toLowerCase());
    const year = Number(parts.year) + (parts.year?.length === 2 ? 2000 : 0);
    const [hour = 0, minute = 0, second = 0] = (parts.time ?? '').split(':').map(Number);
    if (month >= 0) return Date.UTC(year, month, Number(parts.day), hour, minute, second);
  }
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
}
