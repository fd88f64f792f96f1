/** The PostgreSQL error codes that this project reacts to, by name. Appendix A of PostgreSQL's manual has the full list. */
const states = {
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  failedTransaction: '25P02',
  notNullViolation: '23502',
  uniqueViolation: '23505',
  undefinedTable: '42P01',
  undefinedSchema: '3F000',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  /** Raised by our own function require_held_run. */
  runNotHeld: 'IB001',
} as const;

/** True if the database answered with this error. */
export function isSqlState(error: unknown, state: keyof typeof states): boolean {
  return (error as { code?: unknown } | null | undefined)?.code === states[state];
}

/** True if the database could not be reached, does not answer, ended the connection, or accepts no connections or writes: retrying later may help. */
export function isConnectionFailure(error: unknown): boolean {
  const { code = '', message = '', syscall } = (error ?? {}) as { code?: string; message?: string; syscall?: string };
  if (code === 'ENOENT') return syscall === 'connect';
  return (
    /^(?:08|25006|57P|53300|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|No host of DATABASE_URL|database ".*" is not currently accepting)/.test(
      message,
    )
  );
}

/**
 * True if the cause lies in the database's state and not in the data: a lost connection, a lock, a deadlock, a statement that took too long, a
 * full disk, no memory. The same statement may work later.
 */
export function isPassing(error: unknown): boolean {
  if (isConnectionFailure(error)) return true;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^(?:40|53|58|55P03|57014)/.test(code);
}

/** True if a statement waited or ran for too long: the same work in smaller parts may succeed. */
export function isTooSlow(error: unknown): boolean {
  const { message } = (error ?? {}) as { message?: unknown };
  return (
    isSqlState(error, 'queryCanceled') || isSqlState(error, 'lockNotAvailable') || message === 'Query read timeout'
  );
}

/** True if the database refused the data itself (data exception, constraint, program limit), so that a retry would fail again. */
export function isRefusedData(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^(?:22|23|54)[0-9A-Z]{3}$/.test(code);
}
