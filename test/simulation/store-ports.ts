import type { Brand } from '../../src/core/brand/brand.ts';
import type { Handover } from '../../src/core/deliver/handover.ts';
import type { DeliveryStore } from '../../src/core/deliver/ports.ts';
import type { RunStore } from '../../src/core/intake/pull/ports.ts';
import type { IntakePorts } from '../../src/core/intake/push/intake.ts';
import type { EventWorkerPorts } from '../../src/core/intake/push/worker.ts';
import type { AskedPartners } from '../../src/core/outbound/ask/ports.ts';
import type { Applying } from '../../src/core/store/events/append.ts';
import type { EventStore } from '../../src/core/store/events/work-events.ts';
import type { EpochMs } from '../../src/terms.ts';
import type { Fate, RunReport, Settled, Version } from '../history/history.ts';

type Batch = Parameters<EventWorkerPorts['batch']>;

/**
 * What intake, event worker, pull runner and deliveries need from the store: the ports that these rooms declare, and nothing
 * below them. PostgreSQL and the model both implement it and pass one suite (conformance.ts).
 */
export interface StorePorts {
  insert(
    events: Parameters<IntakePorts['insert']>[0],
    written: () => void,
    applying?: Applying,
  ): ReturnType<IntakePorts['insert']>;
  readonly putBack: EventWorkerPorts['putBack'];
  batch(
    store: Pick<EventStore, 'brandOf' | 'othersAt' | 'handover'>,
    batching: Batch[0],
    work: Batch[1],
  ): ReturnType<EventWorkerPorts['batch']>;
  setAside(target: Brand, error: Error): Promise<void>;
  runs(handover: Handover): RunStore;
  readonly partners: AskedPartners;
  readonly outbox: DeliveryStore;
  /** The database's clock. */
  clock(): Promise<EpochMs>;
}

/** What the store reports afterwards. Statements are named after their event's id, records `integration/id`. */
export interface Observed {
  readonly fates: readonly Fate[];
  readonly versions: readonly Version[];
  readonly settled: readonly Settled[];
  readonly runs: readonly (RunReport & { readonly state: string; readonly integration: string })[];
  /** By event id, for events whose timestamp is later than their receipt. */
  readonly receipts: ReadonlyMap<string, { readonly receivedAt: EpochMs; readonly seq: number }>;
}
