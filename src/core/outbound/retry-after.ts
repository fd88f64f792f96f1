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

/** The three date forms of RFC 9110, which are in GMT, and ISO 8601, which some servers send. Date.parse alone reads "5 minutes" as a date. */
function dateMs(text: string): number {
  if (/^\w{3,9},? .*\d{2}:\d{2}:\d{2}/.test(text)) return Date.parse(text.replace(/ (?:GMT|UTC)$/i, '').concat(' GMT'));
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
}
