/** The PostgreSQL error codes that this project reacts to, by name. Appendix A of PostgreSQL's manual has the full list. */
const states = {
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  uniqueViolation: '23505',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  /** Raised by our own function require_held_run. */
  runNotHeld: 'IB001',
} as const;

/** True if the database answered with this error. */
export function isSqlState(error: unknown, state: keyof typeof states): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === states[state];
}
