import { isSqlState } from '../../../kit/sql-state.ts';
import type { Outcome } from '../../destination.ts';

/** What an error of the warehouse means for the batch. Only codes and fixed words are kept: a message may quote a row. */
export function failureOf(error: unknown): Outcome {
  const code = String((error as { code?: unknown }).code ?? '');
  const said = code === '' ? 'no code' : code;
  if (code === 'INNBOUND_BLOCKED_ADDRESS') {
    return { kind: 'dead', code: 'deliver.blocked_address', message: (error as Error).message };
  }
  if (/^(22|23)...$/.test(code)) {
    const { column, constraint } = error as { column?: string; constraint?: string };
    const where = [column, constraint].filter((name) => name !== undefined).join(' ');
    const message = `The warehouse refused the rows: SQLSTATE ${code}${where && ` (${where})`}.`;
    return { kind: 'dead', code: 'deliver.refused', message, whole: true };
  }
  if (/^28...$/.test(code)) {
    return {
      kind: 'retry',
      code: 'deliver.auth_failed',
      message: `The warehouse refused the login: SQLSTATE ${code}.`,
    };
  }
  if (isSqlState(error, 'queryCanceled') || code === 'ETIMEDOUT') {
    return {
      kind: 'retry',
      code: 'deliver.timeout',
      message: `The warehouse did not finish in time: ${said}.`,
      whole: true,
    };
  }
  if (/^(08|53|57)...$/.test(code) || !/^[0-9A-Z]{5}$/.test(code) || /^E[A-Z]+$/.test(code)) {
    return {
      kind: 'retry',
      code: 'deliver.unreachable',
      message: `The warehouse cannot be reached: ${said}.`,
      whole: true,
    };
  }
  return {
    kind: 'retry',
    code: 'deliver.server_error',
    message: `The warehouse answered SQLSTATE ${code}.`,
    whole: true,
  };
}
