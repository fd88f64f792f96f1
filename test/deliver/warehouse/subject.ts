import type { DestinationServices, DestinationType } from '../../../src/core/deliver/destination.ts';
import type { Effect, Subject } from '../conformance.ts';
import { services } from '../support.ts';

/** What a warehouse holds, as the conformance suite compares it. */
function effectOf(row: Record<string, unknown>): Effect {
  const guests = typeof row.guests === 'object' ? JSON.stringify(row.guests) : row.guests;
  return {
    id: String(row.id),
    version: Number(row.version),
    key: String(row.idempotency_key),
    event: String(row.event),
    data: `${guests}${row.status ?? ''} "total_amount":${String(row.total_amount).replace(/\.?0+$/, '')}`,
  };
}

export function warehouse<Settings>(
  type: DestinationType<Settings>,
  settings: Record<string, unknown>,
  rest: { effects(): Promise<Record<string, unknown>[]>; refuse(id: string): Promise<void>; close(): Promise<void> },
): Subject {
  const offered = services('/');
  const opened: { close(): Promise<void> }[] = [];
  return {
    newestOnly: true,
    async open(given: DestinationServices = offered) {
      const destination = type.open(type.settings.parse(settings), given);
      opened.push(destination);
      return { deliver: (...asked) => destination.deliver(...asked), close: async () => {} };
    },
    effects: async () => (await rest.effects()).map(effectOf),
    refuse: rest.refuse,
    async close() {
      await Promise.all(opened.map((one) => one.close()));
      await offered.close();
      await rest.close();
    },
  };
}
