const mebibyte = 1024 * 1024;

/** The most bytes of an answer, on the wire and decoded, by what is expected. An error (3xx, 4xx, 5xx) is always `short`. */
const limits = {
  /** A receipt, a token, a listing: read for a few fields, or for its status alone. */
  short: mebibyte,
  /** One result per record of a batch. */
  results: 16 * mebibyte,
  /** A file that we wrote. */
  file: 256 * mebibyte,
} as const;

/** `bytes`: a page of records, which may be as large as the settings of the workspace say. */
export type Expected = keyof typeof limits | { readonly bytes: number };

export function mostBytes(expected: Expected): (status: number) => number {
  const most = typeof expected === 'string' ? limits[expected] : expected.bytes;
  return (status) => (status < 300 ? most : Math.min(most, limits.short));
}
