import type { Runtime } from '../runtime/runtime.ts';
import { missingRolesOf } from './missing-roles.ts';

/** What stops deliveries, whatever their time and the destination's answers: a release, the destination's document, a worker. */
export const stops = ['release', 'document', 'worker'] as const;

export async function waitsFor(runtime: Runtime) {
  const { documents, destinations } = runtime.active();
  const isUnmanned = (await missingRolesOf(runtime)).includes('worker');
  return (integration: string, destination: string): (typeof stops)[number] | null => {
    if (documents.get(integration)?.body.preview?.includes(destination)) return 'release';
    if (destinations.get(destination)?.body.paused) return 'document';
    return isUnmanned ? 'worker' : null;
  };
}
