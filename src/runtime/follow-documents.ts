import { errorFacts } from '../kit/log.ts';
import { type Loop, startLoop } from '../kit/loop.ts';
import { isConnectionFailure } from '../kit/sql-state.ts';
import type { Runtime } from './runtime.ts';

/** Loads documents that another process applied: at once after a signal, at the latest after 30 seconds. */
export function followDocuments(runtime: Runtime, changed: () => void): Loop {
  let known = readAtStart(runtime);
  return startLoop({
    name: 'documents',
    heartbeats: runtime.heartbeats,
    turn: async () => {
      changed();
      await runtime.restoreCheck.check().catch((error: unknown) => {
        // An unreachable database is reported below.
        if (isConnectionFailure(error)) return;
        runtime.log.error(
          { error: errorFacts(error) },
          'store: its position cannot be compared, so a restore may go unnoticed',
        );
      });
      if (await runtime.refresh()) {
        runtime.log.info({ integrations: runtime.active().integrations.size }, 'documents: new versions in force');
        const now = readAtStart(runtime);
        if (now !== known)
          runtime.log.warn(
            {},
            'documents: network, metrics, log or limits.connections_per_address changed: restart this node',
          );
        known = now;
      }
    },
    pause: (_, signal) => runtime.wake.wait('documents', 30_000, signal),
    onError: (error) =>
      runtime.log.warn({ error: errorFacts(error) }, 'documents: reading failed, keeping the versions in force'),
  });
}

/** The settings that a running node does not take up. */
function readAtStart(runtime: Runtime): string {
  const { network, metrics, log, limits } = runtime.active().settings;
  return JSON.stringify([network, metrics, log, limits.connections_per_address]);
}
