import type { Statement } from './forms.ts';

/** Recognises and removes erased guests; the store has only their hashes. */
export interface ErasurePort {
  /** Keyed hashes (hex) of everything that identifies the guests of a statement. */
  hashesOf(statement: Statement, integration: string): readonly string[];
  /** The statement without the guests among these hashes; the same object if there are none. */
  strip(statement: Statement, integration: string, erased: Erased): Statement;
  /** Hashes of everything else that identifies each erased guest of a statement, with the hash that the guest was found by. */
  others(statement: Statement, integration: string, erased: Erased): readonly Recognised[];
}

/** Hashes (hex) of erased guests. */
export type Erased = Pick<ReadonlySet<string>, 'has'>;

export interface Recognised {
  readonly by: string;
  readonly hashes: readonly string[];
}
