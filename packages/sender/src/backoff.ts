export interface BackoffOptions {
  /** The maximum of the first delay. */
  readonly firstMs: number;
  /** Each delay is this many times the previous one. */
  readonly factor: number;
  readonly maxMs: number;
}

/** About 2 s, 8 s, 32 s and 2 min: long enough for a restart of the receiver; a failure is known within three minutes. */
export const defaultBackoff: BackoffOptions = { firstMs: 2_000, factor: 4, maxMs: 300_000 };

/**
 * The delay before retry number `retry` (1 is the first). Half of it is random, so that a thousand events refused in the
 * same second do not all return in the same second; the other half is fixed, so that no retry is immediate.
 */
export function backoffMs(options: BackoffOptions, retry: number, random: () => number): number {
  const longest = Math.min(options.maxMs, options.firstMs * options.factor ** (retry - 1));
  return Math.round(longest / 2 + random() * (longest / 2));
}

/** The delay that a Retry-After header asks for. The service has its own: partners copy this folder alone. */
export function retryAfterMs(header: string | null | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
