import type { JsonObject } from '../../src/terms.ts';
import type { Mention } from './persons.ts';

/**
 * What happened in a run, as seen from outside and as the store reports it afterwards. Values are opaque texts: two of them are
 * equal if and only if the records say the same.
 */
export interface History {
  /** What partners said, except refused messages. */
  readonly statements: readonly Statement[];
  /** What partners said about persons, for runs whose records have guests of several. */
  readonly mentions?: readonly Mention[];
  /** The outcomes of the accepted events, as the store reports them. */
  readonly fates: readonly Fate[];
  /** Every version in the store. */
  readonly versions: readonly Version[];
  /** The state of each version at each destination, as the store reports it. */
  readonly settled: readonly Settled[];
  /** What took effect at the destinations, in that order; repetitions included. */
  readonly writes: readonly Write[];
  readonly runs: readonly RunReport[];
  readonly erasures: readonly Erasure[];
  /** Accidents in the partner's answers. */
  readonly accidents?: readonly Accident[];
  /** What else the store holds, for runs with erasures. */
  readonly kept?: readonly { readonly place: string; readonly text: string }[];
  /** All work is done: nothing may still be pending, except behind a dead letter. */
  readonly isQuiet: boolean;
}

/** A partner's statement about a record. Its effective time is known within bounds; exact if both are equal. */
export interface Statement {
  readonly id: string;
  /** Integration and id of the record. */
  readonly record: string;
  readonly value: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Decides between equal effective times; absent if it is not known outside the store. */
  readonly seq?: number;
  /** False if it is not known outside: the answer was lost, or a page was read and may not have been stored. */
  readonly isAccepted: boolean;
  /** An event has one outcome in the store; rows of a list have none. */
  readonly isEvent: boolean;
}

export type Fate =
  | { readonly statement: string; readonly kind: 'version'; readonly version: number }
  | { readonly statement: string; readonly kind: 'unchanged' | 'superseded' | 'dropped' | 'held' | 'dead' | 'pending' };

export interface Version {
  readonly record: string;
  readonly version: number;
  readonly value: string;
  /** Written by an erasure, not by a partner. */
  readonly isErasure?: boolean;
  /** All that is stored, for runs with erasures or several persons. */
  readonly text?: string;
}

export interface Settled {
  readonly record: string;
  readonly destination: string;
  readonly version: number;
  readonly kind: 'delivered' | 'skipped' | 'dead' | 'pending';
}

export interface Write {
  readonly destination: string;
  readonly record: string;
  readonly version: number;
  readonly key: string;
  readonly value: string;
  /** Tells the destination to erase a guest. */
  readonly isErasure?: boolean;
  /** The bytes that were sent. */
  readonly body: string;
  /** When the call began, on the clock of `Erasure.atMs`. */
  readonly startedAtMs: number;
}

export interface RunReport {
  readonly id: string;
  readonly fetched: number;
  readonly counted: number;
  /** Rows that were held back as an accident, in whole or in part; those held in part are also counted. */
  readonly held?: number;
  /** How many rows the partner listed for the run, if known. */
  readonly listed?: number;
}

/** A mistake in a partner's answers that concerned nearly all rows of a brand. Nobody may see it. */
export interface Accident {
  readonly integration: string;
  /** Whether a record shows it, given the version before. */
  readonly isDamaged: (record: JsonObject, before: JsonObject | undefined) => boolean;
}

export interface Erasure {
  /** When it was asked for; `atMs` if absent. */
  readonly beganMs?: number;
  /** From then on no call may begin that carries the guest. */
  readonly atMs: number;
  /** Texts that identify the guest, such as an e-mail address. */
  readonly marks: readonly string[];
}

export type Rule =
  | 'accepted_is_accounted_for'
  | 'versions_in_order'
  | 'one_key_one_body'
  | 'newest_statement_holds'
  | 'nothing_after_erasure'
  | 'nothing_unsaid'
  | 'nothing_of_another_person'
  | 'an_accident_destroys_nothing';

export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}
