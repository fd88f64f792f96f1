import type { BrandBatch, PendingEvent, Settled } from '../../../src/core/intake/push/brand-batch.ts';
import type { EventRow, StoreModel } from './state.ts';
import type { Transaction } from './transaction.ts';

export function pendingOf(model: StoreModel, integration?: string): EventRow[] {
  return model.events.filter(
    (event) => event.state === 'pending' && (integration === undefined || event.integration === integration),
  );
}

export const batchOf = (events: readonly EventRow[], take: BrandBatch['take']): BrandBatch => ({
  events: events.map(pendingEvent),
  take,
  othersAt: () => notModelled('guest events'),
  profiles: () => notModelled('guest events'),
  newProfileId: () => notModelled('guest events'),
  storedId: () => notModelled('guest events'),
  reservation: () => notModelled('guest events'),
  bookings: () => notModelled('guest events'),
  consentOf: () => notModelled('guest events'),
  isRefusedAt: () => notModelled('guest events'),
  reservationsOf: () => notModelled('guest events'),
});

const pendingEvent = ({ seq, event, occurredAt, receivedAt, body, attempt }: EventRow): PendingEvent => ({
  seq,
  event,
  occurredAt,
  receivedAt,
  body,
  attempt,
});

export function settleAtCommit(model: StoreModel, tx: Transaction, settled: readonly Settled[]): void {
  tx.atCommit(() => {
    const bySeq = new Map(model.events.map((event) => [event.seq, event]));
    for (const one of settled) {
      const event = bySeq.get(one.seq);
      if (event === undefined || one.state === 'hydrate') throw new TypeError('thin events are not modelled');
      event.state = one.state;
      event.outcome = one.outcome;
      if (one.version !== undefined) event.version = one.version;
    }
  });
}

function notModelled(what: string): never {
  throw new TypeError(`${what} are not modelled`);
}
