/** The part of the service that reports the error. */
export type Stage = 'documents' | 'pull' | 'push' | 'record' | 'deliver' | 'store' | 'operate';

/**
 * Who acts next.
 * again     we retry automatically
 * sender    the sender retries
 * operator  nothing happens until a person acts
 * final     nobody: it is not retried, by design
 */
export type RetryClass = 'again' | 'sender' | 'operator' | 'final';

export interface ErrorEntry {
  readonly stage: Stage;
  readonly retry: RetryClass;
  /** What happened, in one sentence. */
  readonly what: string;
  /** What the person reading it does next. */
  readonly next: string;
}
