import type { Fate } from '../../history/history.ts';
import { fate } from '../observe.ts';
import type { Observed, StorePorts } from '../store-ports.ts';
import { eventPorts } from './events.ts';
import type { Link } from './link.ts';
import { outboxModel } from './outbox.ts';
import { partnersModel } from './partners.ts';
import { runsModel } from './runs.ts';
import type { EventRow, OutboxRow, StoreModel } from './state.ts';

/** The ports of a node whose store is the model. */
export function modelPorts(model: StoreModel, link: Link): StorePorts {
  return {
    ...eventPorts(model, link),
    runs: (handover) => runsModel(model, link, handover),
    partners: partnersModel(model, link),
    outbox: outboxModel(model, link),
    clock: () => link.call('clock', () => model.now()),
  };
}

export function observeModel(model: StoreModel): Observed {
  return {
    fates: model.events.map(fateOf),
    versions: [...model.changes].flatMap(([key, changes]) => {
      const [, integration, id] = key.split(' ');
      return changes.map(({ version, text }) => ({ record: `${integration}/${id}`, version, value: text }));
    }),
    settled: [...model.outbox.values()].flatMap((row) => settledOf(model, row)),
    runs: model.runs.map(({ run, state, counters }) => ({
      id: run.runId,
      integration: run.integration,
      state,
      fetched: counters.fetched,
      counted:
        counters.changed +
        counters.unchanged +
        counters.superseded +
        counters.dropped +
        counters.skipped +
        counters.dead,
      held: counters.held,
    })),
    receipts: new Map(model.events.map(({ eventId, receivedAt, seq }) => [eventId, { receivedAt, seq }])),
  };
}

const fateOf = ({ eventId, state, outcome, version }: EventRow): Fate => fate(eventId, state, outcome, version);

function settledOf(model: StoreModel, { integration, destination, id, nextVersion, lastVersion, isHeld }: OutboxRow) {
  const done = model.attempts.filter(
    (one) =>
      one.integration === integration &&
      one.destination === destination &&
      one.id === id &&
      (one.outcome === 'delivered' || one.outcome === 'skipped'),
  );
  const record = `${integration}/${id}`;
  const open = Array.from({ length: Math.max(0, lastVersion - nextVersion + 1) }, (_, i) => nextVersion + i);
  return [
    ...done.map(({ version, outcome }) => ({ record, destination, version, kind: outcome as 'delivered' | 'skipped' })),
    ...open.map((version) => {
      const kind = isHeld && version === nextVersion ? ('dead' as const) : ('pending' as const);
      return { record, destination, version, kind };
    }),
  ];
}
