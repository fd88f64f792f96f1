import { chunksOf } from '../../../kit/chunks.ts';
import type { Foreseen } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { newestOfEach } from './newest.ts';
import { compilePlan } from './plan.ts';
import type { Settings } from './settings.ts';
import { inTurn } from './turns.ts';

/** The requests of these deliveries, call by call, to an account that has nobody of them: it finds only what it creates. */
export function foresee(settings: Settings, deliveries: readonly Delivery[], batch: number): Foreseen[] {
  const plan = compilePlan(settings);
  return chunksOf(deliveries, batch).flatMap((call) => {
    const items = call.flatMap((one, index) => (plan.withoutRequest(one) ? [] : plan.items(one, index)));
    return inTurn(items).map(([operation, planned]) => {
      const due = planned.filter(({ scope }) => operation.applies(scope));
      const created = Object.keys(operation.found?.as ?? {});
      for (const { found, stage } of due)
        if (stage !== 'new_guest' && stage !== 'moved') for (const name of created) found[name] = name;
      const { sent } = newestOfEach(operation, due);
      return { requests: Math.ceil(sent.length / (operation.batch ?? batch)), limit: operation.limit };
    });
  });
}
