import { errorFacts } from '../kit/log.ts';
import { type Loop, startLoop } from '../kit/loop.ts';
import { isConnectionFailure } from '../kit/sql-state.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** Loads documents that another process applied: at once after a signal, at the latest after 30 seconds. */
export function followDocuments(runtime: Runtime, changed: () => void): Loop {
  return startLoop({
    name: 'documents',
    heartbeats: runtime.heartbeats,
    turn: async () => {
      changed();
      await runtime.restoreCheck.check().catch((error: unknown) => {
        // An unreachable database is reported below.
        if (isConnectionFailure(error)) return;
        const { message } = error as Error;
        runtime.log.error({ error: message }, 'store: its position cannot be compared, so a restore may go unnoticed');
      });
      if (await runtime.refresh())
        runtime.log.info({ integrations: runtime.active().integrations.size }, 'documents: new versions in force');
    },
    rest: (_, signal) => runtime.wake.wait('documents', 30_000, signal),
    onError: (error) =>
      runtime.log.warn({ error: errorFacts(error) }, 'documents: reading failed, keeping the versions in force'),
  });
}
