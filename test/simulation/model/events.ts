import type { Brand } from '../../../src/core/brand/brand.ts';
import type { BrandBatch, Settled } from '../../../src/core/intake/push/brand-batch.ts';
import type { NewEvent, StoreResult } from '../../../src/core/intake/push/ports.ts';
import type { Applying } from '../../../src/core/store/events/append.ts';
import type { StorePorts } from '../store-ports.ts';
import type { Link } from './link.ts';
import { batchOf, pendingOf, settleAtCommit } from './pending.ts';
import type { EventRow, StoreModel } from './state.ts';
import { take } from './take.ts';
import { Transaction } from './transaction.ts';

const triesBeforeDead = 5;

/** Accepted events and their lanes. Retired endpoints, expired secrets, thin events and guests' own events are not modelled. */
export function eventPorts(
  model: StoreModel,
  link: Link,
): Pick<StorePorts, 'insert' | 'putBack' | 'batch' | 'setAside'> {
  return {
    insert: async (events, written, applying) => {
      const applied = applying && (await storeApplied(model, link, events, applying));
      if (applied) return applied;
      const stored = await link.call('insert', () => appendAll(model, events));
      written();
      return stored;
    },
    putBack: () =>
      link.call('putBack', () => {
        for (const event of model.events) {
          if (event.state === 'waiting' && (event.dueAt ?? 0) <= model.now()) event.state = 'pending';
        }
      }),
    batch: async ({ brandOf, handover }, { limit, only }, work) => {
      for (;;) {
        const tx = await link.begin(() => new Transaction(model));
        try {
          const found = only === undefined ? brandsOf(pendingOf(model)) : [only];
          const locked = await link.call('lockLanes', () => found.filter((name) => tx.tryLockLane(name)));
          const mine = locked.map((name) => brandOf(name)).filter((brand) => brand !== undefined);
          const share = Math.max(1, Math.floor(limit / Math.max(1, mine.length)));
          const outgoing = handover.begin();
          let more = false;
          const all: Settled[] = [];
          for (const target of mine) {
            const events = pendingOf(model, target.integration).slice(0, share);
            const takeIn: BrandBatch['take'] = (statements) =>
              link.call('apply', () => take(model, tx, target, statements, { outgoing }));
            if (events.length > 0) all.push(...(await work(target, batchOf(events, takeIn))));
            more ||= events.length === share;
          }
          settleAtCommit(model, tx, all);
          const result = await link.call('commit', () => tx.commit());
          if (result !== 'committed') continue;
          outgoing.send();
          return { more, busy: locked.length < found.length, after: '' };
        } finally {
          tx.rollBack();
        }
      }
    },
    setAside: (target) =>
      link.call('setAside', () => {
        const [event] = pendingOf(model, target.integration);
        if (event === undefined || model.laneLocks.has(target.integration)) return;
        event.attempt += 1;
        event.state = event.attempt >= triesBeforeDead ? 'dead' : 'waiting';
        event.dueAt = model.now() + event.attempt * event.attempt * 1_000;
      }),
  };
}

/** Undefined if it cannot be applied, and where another transaction changed the same rows in between: the events are then stored alone. */
async function storeApplied(
  model: StoreModel,
  link: Link,
  events: readonly NewEvent[],
  { store: { brandOf, handover }, session: open }: Applying,
): Promise<StoreResult[] | undefined> {
  const tx = await link.begin(() => new Transaction(model));
  try {
    const names = [...new Set(events.map(({ integration }) => integration))].slice(0, 8);
    const idle = await link.call('lockLanes', () =>
      names.filter((name) => tx.tryLockLane(name) && pendingOf(model, name).length === 0),
    );
    const isKnown = ({ endpointId, eventId }: NewEvent) => model.eventsById.has(`${endpointId} ${eventId}`);
    const rows = new Map<string, EventRow>();
    for (const event of events) {
      const name = `${event.endpointId} ${event.eventId}`;
      if (idle.includes(event.integration) && !isKnown(event) && !rows.has(name)) rows.set(name, rowOf(model, event));
    }
    const [outgoing, session] = [handover.begin(), open()];
    const settled: Settled[] = [];
    for (const name of idle) {
      const brand = brandOf(name);
      const own = [...rows.values()].filter(({ integration }) => integration === name);
      const takeIn: BrandBatch['take'] = (statements) =>
        link.call('apply', () => take(model, tx, brand as Brand, statements, { outgoing }));
      if (brand && own.length > 0) settled.push(...(await session.work(brand, batchOf(own, takeIn))));
    }
    let stored: StoreResult[] = [];
    tx.atCommit(() => {
      stored = appendAll(model, events, rows);
    });
    settleAtCommit(model, tx, settled);
    const isAlone = () => ![...rows.keys()].some((name) => model.eventsById.has(name));
    if ((await link.call('commit', () => tx.commit(isAlone))) !== 'committed') return undefined;
    outgoing.send();
    session.done();
    return stored;
  } catch (error) {
    if ((error as { code?: string }).code !== undefined) throw error;
    return undefined;
  } finally {
    tx.rollBack();
  }
}

const brandsOf = (events: readonly EventRow[]): string[] =>
  [...new Set(events.map(({ integration }) => integration))].sort();

/** Of equal ids in one batch the first counts; the others are compared with it. */
function appendAll(
  model: StoreModel,
  events: readonly NewEvent[],
  applied: ReadonlyMap<string, EventRow> = new Map(),
): StoreResult[] {
  const first = new Map<string, NewEvent>();
  return events.map((event) => {
    const name = `${event.endpointId} ${event.eventId}`;
    const known = first.get(name);
    if (known) return { kind: 'duplicate', sameBody: known.rawBody.equals(event.rawBody) };
    first.set(name, event);
    return append(model, event, applied.get(name));
  });
}

function append(model: StoreModel, event: NewEvent, applied: EventRow | undefined): StoreResult {
  const name = `${event.endpointId} ${event.eventId}`;
  const known = model.eventsById.get(name);
  const row = applied ?? rowOf(model, event);
  if (known) return { kind: 'duplicate', sameBody: known.body.equals(event.rawBody) };
  model.events.push(row);
  model.eventsById.set(name, row);
  return { kind: 'stored', ...(applied && { isApplied: true }) };
}

function rowOf(model: StoreModel, { integration, eventId, event, occurredAt, rawBody: body }: NewEvent): EventRow {
  const receivedAt = Math.round(model.now());
  const row = { integration, eventId, event, occurredAt: occurredAt ?? receivedAt, receivedAt, body };
  return { seq: model.nextSeq(), ...row, state: 'pending', attempt: 0 };
}
