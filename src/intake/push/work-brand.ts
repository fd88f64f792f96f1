import { setImmediate } from 'node:timers/promises';
import type { Brand } from '../../brand/brand.ts';
import type { Statement } from '../../reconcile/forms.ts';
import type { BrandBatch, PendingEvent, Settled } from './brand-batch.ts';
import { workFeedback } from './feedback-event.ts';
import { workGuestEvent } from './guest-event.ts';
import { arrivalOf, contentOf, dataOf, stateEvent } from './reservation-event.ts';
import { thinIdOf } from './thin-id.ts';

/**
 * Processes a batch of events in order. Consecutive reservation events are applied together; a guest event reads stored data,
 * so everything before it is applied first.
 */
export async function workBrand(batch: BrandBatch, brand: Brand): Promise<Settled[]> {
  const settled: Settled[] = [];
  let run: PendingEvent[] = [];
  const finishRun = async () => {
    if (run.length > 0) settled.push(...(await workRun(batch, brand, run)));
    run = [];
  };
  for (const event of batch.events) {
    if (!isAboutGuest(event)) {
      run.push(event);
      continue;
    }
    await finishRun();
    const work = event.event === 'guest.feedback' ? workFeedback : workGuestEvent;
    settled.push(await work(batch, brand, event));
  }
  await finishRun();
  return settled;
}

/** Some milliseconds of work. */
const readTogether = 16;

async function workRun(batch: BrandBatch, brand: Brand, events: readonly PendingEvent[]): Promise<Settled[]> {
  const settled: Settled[] = [];
  const open: { event: PendingEvent; data: ReturnType<typeof dataOf> }[] = [];
  for (const event of events) {
    const data = dataOf(event);
    const id = event.hydrated ? undefined : thinIdOf(brand, 'reservation', data);
    if (id === undefined) open.push({ event, data });
    else settled.push({ seq: event.seq, state: 'hydrate', type: 'reservation', id });
  }
  if (open.length === 0) return settled;

  const statements: Statement[] = [];
  for (const { event, data } of open) {
    // Requests that arrived meanwhile are answered first.
    if (statements.length % readTogether === readTogether - 1) await setImmediate();
    statements.push(stateEvent(brand, contentOf(event, data), arrivalOf(event)));
  }
  const { outcomes } = await batch.take(statements);
  for (const [i, { event }] of open.entries()) {
    const { outcome, id, version, reason } = outcomes[i] ?? { outcome: 'unchanged' };
    const state = outcome === 'dead' ? 'dead' : 'done';
    const where = {
      ...(id !== undefined && { id }),
      ...(version !== undefined && { version }),
      ...(reason && outcome !== 'dead' && outcome !== 'dropped' && { reason }),
    };
    settled.push({ seq: event.seq, state, outcome, type: 'reservation', ...where });
  }
  return settled;
}

const isAboutGuest = ({ event }: PendingEvent): boolean => event === 'guest.updated' || event === 'guest.feedback';
