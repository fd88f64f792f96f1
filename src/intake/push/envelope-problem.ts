/** One fault of an envelope. The pointer (RFC 6901) names a field; the payload is never quoted. */
export interface EnvelopeProblem {
  readonly pointer: string;
  readonly detail: string;
}
