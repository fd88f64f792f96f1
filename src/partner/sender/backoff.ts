export interface BackoffOptions {
  /** The longest first wait. */
  readonly firstMs: number;
  /** Each wait is this many times the one before. */
  readonly factor: number;
  readonly maxMs: number;
}

/** About 2 s, 8 s, 32 s and 2 min: a restart of the receiver is bridged, and a fault is known within three minutes. */
export const defaultBackoff: BackoffOptions = { firstMs: 2_000, factor: 4, maxMs: 300_000 };

/**
 * The wait before retry number `retry` (1 is the first). Half of it is by chance, so that a thousand events refused in the
 * same second do not come back in the same second; the other half is fixed, so that no retry comes at once.
 */
export function backoffMs(options: BackoffOptions, retry: number, random: () => number): number {
  const longest = Math.min(options.maxMs, options.firstMs * options.factor ** (retry - 1));
  return Math.round(longest / 2 + random() * (longest / 2));
}

/** The wait that a Retry-After header asks for. Not the one of src/kit: partners copy this folder alone into their projects. */
export function retryAfterMs(header: string | null | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
