/** The calls that all nodes together may make to a remote: one every `everyMs`, and `burst` at once after a quiet time. */
export interface Rate {
  readonly everyMs: number;
  readonly burst: number;
}
