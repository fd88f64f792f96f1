import type { Runtime } from '../runtime/runtime.ts';
import { openCircuits } from '../store/remotes.ts';

/** The partner APIs whose circuit is open, each with the brands that pull from it. One that no brand uses any more stays open and harms nobody. */
export async function openCircuitsOf(runtime: Runtime) {
  const [open, apis] = await Promise.all([openCircuits(runtime.pool, 'partner'), runtime.partnerApis()]);
  if (open.length === 0) return [];
  const byApi = Map.groupBy(apis, ([, api]) => api);
  return open.flatMap((circuit) => {
    const brands = byApi.get(circuit.name);
    return brands === undefined ? [] : [{ ...circuit, api: circuit.name, integrations: brands.map(([name]) => name) }];
  });
}
