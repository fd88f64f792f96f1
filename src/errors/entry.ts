/**
 * Who acts next.
 * again     we retry automatically
 * sender    the sender retries
 * operator  nothing happens until a person acts
 * final     nobody: it is not retried, by design
 */
export type RetryClass = 'again' | 'sender' | 'operator' | 'final';

/** A code begins with the part of the service that reports it, such as `pull`. */
export interface ErrorEntry {
  /** `operator` where it is not given: most errors need a person. */
  readonly retry?: RetryClass;
  /** What happened, in one sentence. */
  readonly what: string;
  /** What the person reading it does next. */
  readonly next: string;
}
