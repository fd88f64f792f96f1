import type { History, Statement, Violation } from './history.ts';

/** What partners said about one record, as far as the rules need it. */
interface Said {
  readonly values: Set<string>;
  /** The latest moment before which no accepted statement can be the newest; with the sequence where both bounds are that moment. */
  newestMs: number;
  newestSeq: number | undefined;
  /** The two largest upper bounds, and the statement of the first. */
  topMs: number;
  topId: string;
  secondMs: number;
}

/**
 * The final state is that of the newest statement. If bounds overlap or an answer was lost, several statements may be the
 * newest: the state must be that of one of them. A statement counts as superseded only if another one may be newer.
 */
export function checkNewest({ statements, fates, versions }: History): Violation[] {
  const found: Violation[] = [];
  const said = new Map<string, Said>();
  for (const statement of statements) note(said, statement);

  const allowed = new Map<string, Set<string>>();
  for (const statement of statements) {
    if (!mayBeNewest(statement, said.get(statement.record))) continue;
    const values = allowed.get(statement.record) ?? new Set();
    allowed.set(statement.record, values.add(statement.value));
  }
  const last = new Map<string, { version: number; value: string }>();
  for (const { record, version, value } of versions) {
    if (!said.get(record)?.values.has(value)) {
      found.push({ rule: 'nothing_unsaid', message: `${record} v${version} says what no partner said` });
    }
    if (version > (last.get(record)?.version ?? 0)) last.set(record, { version, value });
  }
  for (const [record, { version, value }] of last) {
    if (allowed.get(record)?.has(value)) continue;
    found.push({ rule: 'newest_statement_holds', message: `${record} v${version} is not what was said last` });
  }

  const unmade = new Set(
    fates
      .filter(({ kind }) => kind === 'dead' || kind === 'dropped' || kind === 'held')
      .map(({ statement }) => statement),
  );
  const missing = new Set<string>();
  for (const { id, record, isAccepted } of statements) {
    if (!isAccepted || last.has(record) || unmade.has(id) || missing.has(record)) continue;
    missing.add(record);
    found.push({
      rule: 'newest_statement_holds',
      message: `there is a statement about ${record}, but it is not stored`,
    });
  }

  const superseded = new Set(fates.filter(({ kind }) => kind === 'superseded').map(({ statement }) => statement));
  for (const { id, record, fromMs } of statements) {
    if (!superseded.has(id)) continue;
    const about = said.get(record);
    const others = about?.topId === id ? about.secondMs : about?.topMs;
    if ((others ?? Number.NEGATIVE_INFINITY) < fromMs) {
      found.push({ rule: 'newest_statement_holds', message: `${id} counts as superseded and is the newest` });
    }
  }
  return found;
}

function note(said: Map<string, Said>, { id, record, value, fromMs, toMs, seq, isAccepted }: Statement): void {
  const about = said.get(record) ?? {
    values: new Set(),
    newestMs: Number.NEGATIVE_INFINITY,
    newestSeq: undefined,
    topMs: Number.NEGATIVE_INFINITY,
    topId: '',
    secondMs: Number.NEGATIVE_INFINITY,
  };
  said.set(record, about);
  about.values.add(value);
  if (isAccepted && fromMs >= about.newestMs) {
    const exactSeq = fromMs === toMs ? seq : undefined;
    about.newestSeq = fromMs > about.newestMs ? exactSeq : later(about.newestSeq, exactSeq);
    about.newestMs = fromMs;
  }
  if (toMs > about.topMs) {
    about.secondMs = about.topMs;
    about.topMs = toMs;
    about.topId = id;
  } else if (toMs > about.secondMs) about.secondMs = toMs;
}

const later = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.max(a, b);

function mayBeNewest({ fromMs, toMs, seq }: Statement, about: Said | undefined): boolean {
  if (about === undefined) return false;
  if (toMs !== about.newestMs || fromMs !== toMs) return toMs >= about.newestMs;
  return seq === undefined || about.newestSeq === undefined || seq >= about.newestSeq;
}
