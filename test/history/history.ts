/**
 * What happened in a run, as seen from outside and as the store reports it afterwards. Values are opaque texts: two of them are
 * equal if and only if the records say the same.
 */
export interface History {
  /** What partners said, except what they were refused for. */
  readonly statements: readonly Statement[];
  /** What the store says became of the accepted events. */
  readonly fates: readonly Fate[];
  /** Every version in the store. */
  readonly versions: readonly Version[];
  /** What the store says of each version and destination. */
  readonly settled: readonly Settled[];
  /** What took effect at the destinations, in that order; repetitions included. */
  readonly writes: readonly Write[];
  readonly runs: readonly RunReport[];
  readonly erasures: readonly Erasure[];
  /** What else the store holds, for runs with erasures. */
  readonly kept?: readonly { readonly place: string; readonly text: string }[];
  /** All work is done: nothing may still be pending, except behind a dead letter. */
  readonly isQuiet: boolean;
}

/** A partner's word about a record. Its effective time is known within bounds; exact where both are equal. */
export interface Statement {
  readonly id: string;
  /** Integration and id of the record. */
  readonly record: string;
  readonly value: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Decides between equal effective times; absent where nobody outside the store knows it. */
  readonly seq?: number;
  /** False if nobody outside knows: the answer was lost, or a page was read and maybe not stored. */
  readonly isAccepted: boolean;
  /** An event has one fate in the store; rows of a list have none of their own. */
  readonly isEvent: boolean;
}

export type Fate =
  | { readonly statement: string; readonly kind: 'version'; readonly version: number }
  | { readonly statement: string; readonly kind: 'unchanged' | 'superseded' | 'dropped' | 'dead' | 'pending' };

export interface Version {
  readonly record: string;
  readonly version: number;
  readonly value: string;
  /** Written by an erasure, not by a partner. */
  readonly isErasure?: boolean;
  /** All that is stored, for runs with erasures. */
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
  /** How many rows the partner listed for the run, where it is known. */
  readonly listed?: number;
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
  | 'nothing_unsaid';

export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}
