import type { EntityType, IntegrationName } from '../terms.ts';
import type { Counted, GuardLimits } from './accidents/judge.ts';
import type { Prepared } from './incoming.ts';

/** The integration that the records belong to, and the destinations that receive them. */
export interface ApplyTarget {
  readonly integration: IntegrationName;
  readonly connectorVersion: number;
  readonly integrationVersion: number;
  /** Hash of the workspace's spellings: rows that were read under others are read again. */
  readonly spellings?: number;
  /** Destinations by the types they receive. */
  readonly destinations: Readonly<Record<EntityType, readonly string[]>>;
  /** Precedes the ids of the system that the brand moved to; some of its reservations continue earlier ones under their ids. */
  readonly idPrefix?: string;
  /** Keeps erased guests from coming back. */
  readonly erasure?: ErasurePort;
  /** Holds back the partner's accidents; absent with `guard: off`. */
  readonly guard?: GuardPort;
}

export interface GuardPort {
  readonly limits: GuardLimits;
  /** By feed: what this process counted. `unsaved` is not in the store yet. */
  readonly memory: Map<
    'pull' | 'push',
    { recent: readonly Counted[]; unsaved: readonly Counted[]; isHolding: boolean }
  >;
}

/** Recognises and removes erased guests; the store has only their hashes. */
export interface ErasurePort {
  /** Keyed hashes (hex) of everything that identifies the guests of a record. */
  hashesOf(prepared: Prepared, integration: string): readonly string[];
  /** The record without the guests among these hashes; the same object if there are none. */
  strip(prepared: Prepared, integration: string, erased: Erased): Prepared;
  /** Hashes of everything else that identifies each erased guest of a record, with the hash that the guest was found by. */
  others(prepared: Prepared, integration: string, erased: Erased): readonly Recognised[];
}

/** Hashes (hex) of erased guests. */
export type Erased = Pick<ReadonlySet<string>, 'has'>;

export interface Recognised {
  readonly by: string;
  readonly hashes: readonly string[];
}
