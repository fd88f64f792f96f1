import { type Baseline, nothingKnown } from '../../../src/core/reconcile/accidents/judge.ts';
import { type OutboxRow, outboxKey, type RecordRow, recordKey, type StoreModel } from './state.ts';

/** What the client sees of a transaction whose node, connection or server was lost. */
export function connectionLost(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
}

/**
 * A transaction of the model. PostgreSQL makes a second writer wait for the lock of a row; here the transaction that commits second
 * is run again, as after a deadlock. The result is the same as if one had run after the other.
 */
export class Transaction {
  readonly id: string;
  readonly #model: StoreModel;
  readonly #read = new Map<string, number>();
  readonly #records = new Map<string, RecordRow>();
  readonly #normals = new Map<string, Baseline>();
  readonly #outbox = new Map<string, OutboxRow>();
  readonly #effects: (() => void)[] = [];
  readonly #locks: string[] = [];

  constructor(model: StoreModel) {
    this.#model = model;
    this.id = model.nextId('tx');
    model.transactions.set(this.id, 'in_progress');
  }

  get isOpen(): boolean {
    return this.#model.transactions.get(this.id) === 'in_progress';
  }

  record(integration: string, id: string): RecordRow | undefined {
    const key = recordKey(integration, id);
    this.#note(key);
    return this.#records.get(key) ?? this.#model.records.get(key);
  }

  putRecord(integration: string, id: string, row: RecordRow): void {
    this.#records.set(recordKey(integration, id), row);
  }

  normal(integration: string, feed: string): Baseline {
    const key = `guard ${integration} ${feed}`;
    this.#note(key);
    return this.#normals.get(key) ?? this.#model.normals.get(key) ?? nothingKnown;
  }

  putNormal(integration: string, feed: string, normal: Baseline): void {
    this.#normals.set(`guard ${integration} ${feed}`, normal);
  }

  outboxRow(key: Parameters<typeof outboxKey>[0]): OutboxRow | undefined {
    const name = outboxKey(key);
    this.#note(name);
    return this.#outbox.get(name) ?? this.#model.outbox.get(name);
  }

  putOutbox(row: OutboxRow): void {
    this.#outbox.set(outboxKey(row), row);
  }

  atCommit(effect: () => void): void {
    this.#effects.push(effect);
  }

  tryLockLane(integration: string): boolean {
    if (!this.isOpen) throw connectionLost();
    const { laneLocks } = this.#model;
    if (laneLocks.has(integration)) return false;
    laneLocks.set(integration, this.id);
    this.#locks.push(integration);
    return true;
  }

  commit(isAllowed: () => boolean = () => true): 'committed' | 'conflict' | 'refused' {
    if (!this.isOpen) throw connectionLost();
    const isStale = [...this.#read].some(([key, times]) => (this.#model.touched.get(key) ?? 0) !== times);
    if (isStale || !isAllowed()) {
      this.rollBack();
      return isStale ? 'conflict' : 'refused';
    }
    for (const [key, row] of this.#records) {
      this.#model.records.set(key, row);
      this.#model.touch(key);
    }
    for (const [key, normal] of this.#normals) {
      this.#model.normals.set(key, normal);
      this.#model.touch(key);
    }
    for (const row of this.#outbox.values()) this.#model.putOutbox(row);
    for (const effect of this.#effects) effect();
    this.#end('committed');
    return 'committed';
  }

  rollBack(): void {
    if (this.isOpen) this.#end('rolled_back');
  }

  #end(state: 'committed' | 'rolled_back'): void {
    this.#model.transactions.set(this.id, state);
    for (const integration of this.#locks) this.#model.laneLocks.delete(integration);
  }

  #note(key: string): void {
    if (!this.#read.has(key)) this.#read.set(key, this.#model.touched.get(key) ?? 0);
  }
}
