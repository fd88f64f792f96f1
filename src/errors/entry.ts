/** Which room speaks. */
export type Stage = 'documents' | 'pull' | 'push' | 'record' | 'deliver' | 'store' | 'operate';

/**
 * What happens next without anyone doing anything.
 * again     we try again by ourselves
 * sender    the other side tries again
 * operator  nothing moves until a person acts
 * final     it stays as it is, by design
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
