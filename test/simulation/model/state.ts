import type { RunView } from '../../../src/core/intake/pull/ports.ts';
import type { Counters, PageLog, Position, Run } from '../../../src/core/intake/pull/run/run-state.ts';
import type { EventType } from '../../../src/core/intake/push/envelope.ts';
import type { WaitReason } from '../../../src/core/outbound/ask/ports.ts';
import type { Circuit } from '../../../src/core/outbound/circuit.ts';
import type { Guard } from '../../../src/core/reconcile/accidents/guard.ts';
import type { Baseline } from '../../../src/core/reconcile/accidents/judge.ts';
import type { Time } from '../../../src/core/reconcile/content.ts';
import type { ChangeEvent, EpochMs, IntegrationName } from '../../../src/terms.ts';

/** The rows of the model: one interface per table, as far as the simulated rooms can see it. */

export interface RecordRow {
  readonly version: number;
  readonly time: Time;
  readonly event: ChangeEvent;
  readonly text: string;
  readonly claims: string | undefined;
  readonly listed?: number | undefined;
}

export interface ChangeRow {
  readonly version: number;
  readonly event: ChangeEvent;
  readonly idempotencyKey: string;
  readonly at: EpochMs;
  readonly text: string;
}

export interface EventRow {
  readonly seq: number;
  readonly integration: IntegrationName;
  readonly eventId: string;
  readonly event: EventType;
  readonly occurredAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly body: Buffer;
  state: 'pending' | 'waiting' | 'done' | 'dead';
  attempt: number;
  outcome?: string;
  version?: number;
  dueAt?: EpochMs;
}

export interface OutboxRow {
  readonly integration: string;
  readonly destination: string;
  readonly id: string;
  readonly nextVersion: number;
  readonly lastVersion: number;
  readonly deliveredVersion: number;
  readonly attempt: number;
  readonly fence: number;
  readonly leased: boolean;
  readonly isHeld: boolean;
  readonly dueAt: EpochMs | undefined;
}

export interface RunRow {
  readonly run: Omit<Run, 'state' | 'fence' | 'position' | 'counters' | 'connectorVersion' | 'integrationVersion'>;
  state: Run['state'];
  fence: number;
  dueAt: EpochMs | undefined;
  counters: Counters;
  position?: Position;
  versions?: { readonly connectorVersion: number; readonly integrationVersion: number };
  waiting?: WaitReason;
  end?: Pick<RunView, 'errorCode' | 'errorMessage'>;
  readonly pages: PageLog[];
}

export interface Sighting {
  readonly integration: string;
  readonly requestedAt: EpochMs;
  readonly ids: ReadonlySet<string>;
}

export interface Attempt {
  readonly integration: string;
  readonly destination: string;
  readonly id: string;
  readonly version: number;
  readonly outcome: 'delivered' | 'skipped' | 'retry' | 'dead';
}

/** A model of the tables, on the database's clock. */
export class StoreModel {
  readonly records = new Map<string, RecordRow>();
  readonly changes = new Map<string, ChangeRow[]>();
  readonly events: EventRow[] = [];
  readonly eventsById = new Map<string, EventRow>();
  readonly outbox = new Map<string, OutboxRow>();
  readonly attempts: Attempt[] = [];
  readonly runs: RunRow[] = [];
  readonly sightings: Sighting[] = [];
  readonly watermarks = new Map<string, EpochMs>();
  /** By kind and name. */
  readonly remotes = new Map<string, Remote>();
  /** What is normal in each feed of a brand, and the holds. */
  readonly normals = new Map<string, Baseline>();
  /** What the processes have counted. All nodes share it. */
  readonly memories = new Map<string, Guard['memory']>();
  readonly retryAt = new Map<string, EpochMs>();
  /** The transaction that holds the lane of an integration. */
  readonly laneLocks = new Map<string, string>();
  /** How often a row was changed, to find transactions that read it before. */
  readonly touched = new Map<string, number>();
  readonly transactions = new Map<string, 'in_progress' | 'committed' | 'rolled_back'>();
  readonly now: () => EpochMs;
  #seq = 0;
  #ids = 0;

  constructor(now: () => EpochMs) {
    this.now = now;
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  nextId(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${this.#ids}`;
  }

  touch(key: string): void {
    this.touched.set(key, (this.touched.get(key) ?? 0) + 1);
  }

  putOutbox(row: OutboxRow): void {
    const key = outboxKey(row);
    this.outbox.set(key, row);
    this.touch(key);
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface Remote extends Writable<Circuit> {
  probeAt: EpochMs;
  nextAt: EpochMs;
  pausedUntil: EpochMs;
  toldToWait: string | undefined;
}

export const healthyRemote: Remote = {
  state: 'closed',
  failures: 0,
  away: false,
  refused: false,
  suspect: null,
  probes: 0,
  probeAt: 0,
  nextAt: 0,
  pausedUntil: 0,
  toldToWait: undefined,
};

export const recordKey = (integration: string, id: string): string => `record ${integration} ${id}`;

export const outboxKey = (row: { integration: string; destination: string; id: string }): string =>
  `outbox ${row.integration} ${row.destination} ${row.id}`;
