import type { Runtime } from '../runtime/runtime.ts';
import { unmannedRoles } from '../store/operate/nodes.ts';

/** The roles that the documents need and that no live node has. */
export async function missingRolesOf(runtime: Runtime): Promise<('web' | 'worker')[]> {
  const missing = await unmannedRoles(runtime.pool);
  const { integrations } = runtime.active();
  if (missing.length === 0 || integrations.size === 0) return [];
  const receives = [...integrations.values()].some(({ body }) => body.push.enabled);
  return missing.filter((role) => role === 'worker' || receives);
}
