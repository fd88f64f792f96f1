import type { Authorizer, Outgoing } from '../../outbound/auth/outgoing.ts';
import { clockDifference } from '../../outbound/auth/token-request.ts';
import type { HttpAnswer } from '../../outbound/http.ts';
import type { DestinationServices } from '../destination.ts';
import { askedWaitMs } from '../http-answer.ts';
import { type CallLimits, type Connection, EngineFailure, type Row, type Statement } from './dialect.ts';

/** Requests to an engine over HTTP: credentials, limits, and what every vendor's status means. */

export interface Answer extends Pick<HttpAnswer, 'status' | 'headers'> {
  readonly text: string;
}

export type Ask = (request: Outgoing, limits: CallLimits) => Promise<Answer>;

export function asking(
  { http, clock }: Pick<DestinationServices, 'http' | 'clock'>,
  credentials: Authorizer,
  /** What the vendor says in its own way; undefined if the status says it all. */
  explain: (answer: Answer) => EngineFailure | undefined,
): Ask {
  return async (asked, limits) => {
    for (;;) {
      const allowed = await credentials.authorize(asked);
      if (allowed.kind === 'failed')
        throw new EngineFailure(allowed.isBlocked ? 'blocked' : 'denied', `No credentials: ${allowed.message}.`);
      if (!(await limits.extend())) throw new EngineFailure('lease', 'Not sent: another node may hold the records.');
      const { deadlineMs, signal } = limits;
      const answered = await http.request({
        ...allowed.request,
        deadlineMs,
        idleMs: deadlineMs,
        expects: 'results',
        signal,
      });
      if (answered.kind === 'failed') {
        throw new EngineFailure(answered.reason === 'blocked' ? 'blocked' : 'away', `${answered.message}.`);
      }
      const { status, headers, bytes } = answered;
      const answer = { status, headers, text: Buffer.from(bytes).toString('utf8') };
      if (status < 300) return answer;
      if (status === 401 && (await credentials.refused(allowed.request))) continue;
      throw explain(answer) ?? byStatus(answer, clock.now());
    }
  };
}

function byStatus({ status, headers }: Answer, nowMs: number): EngineFailure {
  const said = `The warehouse answered ${status}`;
  if (status === 401 || status === 403) {
    return new EngineFailure('denied', `${said}: it refuses the login${clockDifference(headers, nowMs)}.`);
  }
  if (status === 429)
    return new EngineFailure('busy', `${said}: it asks to slow down.`, askedWaitMs(headers, nowMs) ?? 10_000);
  if (status === 413) return new EngineFailure('refused', `${said}: the rows are too many bytes for one statement.`);
  if (status === 404)
    return new EngineFailure('missing', `${said}: it does not know the address, project or database.`);
  if (status === 408 || status >= 500) return new EngineFailure('away', `${said}.`);
  return new EngineFailure('other', `${said}.`);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** An engine that takes one statement in a request. */
export const oneByOne = (runOne: (statement: Statement, limits: CallLimits) => Promise<Row[]>): Connection => ({
  async run(statements, limits) {
    let rows: Row[] = [];
    for (const statement of statements) rows = await runOne(statement, limits);
    return rows;
  },
  async close() {},
});

/** A value inside a parsed answer; undefined where the answer has another form. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key as string] : undefined),
    value,
  );
}

export const textAt = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
};

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Rows as lists of cells, under the names of their columns. */
export const namedRows = (columns: readonly string[], rows: unknown): Record<string, string | null>[] =>
  (Array.isArray(rows) ? rows : []).map((row: readonly unknown[]) =>
    Object.fromEntries(columns.map((name, i) => [name.toLowerCase(), row[i] == null ? null : String(row[i])])),
  );
