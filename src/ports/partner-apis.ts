import type { Runtime } from '../runtime/runtime.ts';
import { type OpenCircuit, openCircuits } from '../store/remotes.ts';

type OpenPartnerCircuit = OpenCircuit & { readonly api: string; readonly integrations: readonly string[] };

/** The partner APIs whose circuit is open, each with the brands that pull from it. */
export async function openCircuitsOf(runtime: Runtime): Promise<OpenPartnerCircuit[]> {
  const [open, apis] = await Promise.all([openCircuits(runtime.pool, 'partner'), runtime.partnerApis()]);
  if (open.length === 0) return [];
  const byApi = Map.groupBy(apis, ([, api]) => api);
  return open.map((circuit) => ({
    ...circuit,
    api: circuit.name,
    integrations: (byApi.get(circuit.name) ?? []).map(([name]) => name),
  }));
}
