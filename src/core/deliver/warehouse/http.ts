import { urlPart } from '../../../kit/plain-url.ts';
import type { Authorizer, Outgoing } from '../../outbound/auth/outgoing.ts';
import { clockDifference } from '../../outbound/auth/token-request.ts';
import type { HttpAnswer } from '../../outbound/http.ts';
import type { DestinationServices } from '../destination.ts';
import { askedWaitMs } from '../http-answer.ts';
import {
  type CallLimits,
  type Codes,
  type Connection,
  EngineFailure,
  failureBy,
  type Row,
  type Said,
  type Statement,
  textRow,
} from './dialect.ts';

/** Requests to an engine over HTTP: credentials, limits, and what every vendor's status means. */

export interface Answer extends Pick<HttpAnswer, 'status' | 'headers'> {
  readonly text: string;
}

export type Ask = (request: Outgoing, limits: CallLimits) => Promise<Answer>;

export function asking(
  { http, clock }: Pick<DestinationServices, 'http' | 'clock'>,
  credentials: Authorizer,
  /** What the vendor says in its own way; where no code fits, the status says it. */
  codes: Codes,
  said: (answer: Answer) => Said,
): Ask {
  return async (asked, limits) => {
    for (;;) {
      const allowed = await credentials.authorize(asked);
      if (allowed.kind === 'failed')
        throw new EngineFailure(
          allowed.isBlocked ? 'blocked' : allowed.isAway ? 'away' : 'denied',
          allowed.isBlocked ? `${allowed.message}.` : allowed.message,
        );
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
        const isBlocked = answered.reason === 'blocked';
        throw new EngineFailure(isBlocked ? 'blocked' : 'away', isBlocked ? `${answered.message}.` : answered.message);
      }
      const { status, headers, bytes } = answered;
      const answer = { status, headers, text: Buffer.from(bytes).toString('utf8') };
      if (status < 300) return answer;
      if (status === 401 && (await credentials.refused(allowed.request))) continue;
      const askedMs = askedWaitMs(headers, clock.now());
      const explained = said(answer);
      const name = status === 401 ? explained.name + clockDifference(headers, clock.now()) : explained.name;
      throw failureBy(codes, { ...explained, name }, askedMs) ?? byStatus(answer, askedMs, name);
    }
  };
}

function byStatus({ status }: Answer, askedMs: number | undefined, said: string): EngineFailure {
  if (status === 401 || status === 403) return new EngineFailure('denied', said);
  if (status === 429) return new EngineFailure('busy', said, askedMs ?? 10_000);
  if (status === 413) return new EngineFailure('refused', `${said}, too many bytes for one statement`);
  if (status === 404) return new EngineFailure('missing', `${said}, the address, project or database`);
  return new EngineFailure(status === 408 || status >= 500 ? 'away' : 'other', said);
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

interface JsonStatements {
  readonly ask: Ask;
  readonly clock: DestinationServices['clock'];
  readonly headers: Readonly<Record<string, string>>;
  readonly url: () => string;
  readonly body: (statement: Statement, limits: CallLimits) => object;
  /** Where to ask again for a statement that still runs; undefined if the answer has its rows. */
  readonly again: (answer: unknown, status: number) => string | undefined;
  /** Where an answer has its columns and rows. */
  readonly columns: readonly string[];
  readonly rows: readonly string[];
}

/** An engine that takes a statement as JSON, and is asked again while it works. */
export function jsonStatements({ ask, clock, url, body, again, columns, rows, ...asked }: JsonStatements): Connection {
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...asked.headers };
  return oneByOne(async (statement, limits) => {
    const request = { method: 'POST', url: url(), headers, body: JSON.stringify(body(statement, limits)) };
    let { text, status } = await ask(request, limits);
    for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 2_000)) {
      const answer = parsed(text);
      const next = again(answer, status);
      if (next === undefined) return namedRows(listAt(answer, ...columns), listAt(answer, ...rows));
      await clock.wait(pauseMs, limits.signal);
      ({ text, status } = await ask({ method: 'GET', url: next, headers }, limits));
    }
  });
}

/** The id of a statement that still runs. */
export function handleIn(answer: unknown, ...path: readonly string[]): string {
  const handle = textAt(answer, ...path);
  if (handle === '') throw new EngineFailure('away', 'an answer without the id of its statement');
  return urlPart(handle);
}

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

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Rows as lists of cells, under the names of their columns. BigQuery puts each list and each cell into an object. */
const namedRows = (columns: readonly unknown[], rows: readonly unknown[]): Row[] =>
  rows.map((row) => {
    const cells = at(row, 'f') ?? row;
    const named = columns.map((column, i) => {
      const cell = at(cells, i);
      return [textAt(column, 'name').toLowerCase(), isRecord(cell) ? at(cell, 'v') : cell] as const;
    });
    return textRow(Object.fromEntries(named));
  });
