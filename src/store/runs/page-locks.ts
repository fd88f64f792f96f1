import type { Tx } from '../db/pool.ts';

/**
 * The order of two pages written at the same time. Each page holds a lock named after itself until its transaction ends, and takes
 * the lock of the page before it ahead of any write to rows that both pages share (the run, dead letters, drift counts). The wait
 * is a database lock, so PostgreSQL detects a deadlock between the two and rolls one back; see ADR 7.
 */
export class PageLocks {
  readonly #tx: Tx;
  readonly #runId: string;
  readonly #pagesBefore: number;
  #turn: Promise<unknown> | undefined;

  constructor(tx: Tx, runId: string, pagesBefore: number) {
    this.#tx = tx;
    this.#runId = runId;
    this.#pagesBefore = pagesBefore;
  }

  /** Sent without waiting for the answer; awaited later. */
  lockOwn(): Promise<unknown> {
    const own = this.#lock(this.#pagesBefore + 1);
    // If it fails, the statements after it fail too and report it.
    own.catch(() => {});
    return own;
  }

  /** Waits for the page before; sent once however often it is called. */
  readonly inTurn = (): Promise<unknown> => {
    this.#turn ??= this.#lock(this.#pagesBefore);
    return this.#turn;
  };

  #lock(page: number): Promise<unknown> {
    return this.#tx.query({
      name: 'lock-page',
      text: `select pg_advisory_xact_lock(hashtextextended('page ' || $1 || ' ' || $2, 0))`,
      values: [this.#runId, page],
    });
  }
}
