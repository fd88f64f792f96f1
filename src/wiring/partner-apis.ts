import type { Runtime } from '../runtime/runtime.ts';
import { openPartnerCircuits, type PartnerCircuit } from '../store/operate/overview.ts';

export type OpenPartnerCircuit = PartnerCircuit & { readonly integrations: readonly string[] };

/** The partner APIs whose circuit is open, each with the brands that pull from it. */
export async function openCircuitsOf(runtime: Runtime): Promise<OpenPartnerCircuit[]> {
  const [open, apis] = await Promise.all([openPartnerCircuits(runtime.pool), runtime.partnerApis()]);
  if (open.length === 0) return [];
  const byApi = Map.groupBy(apis, ([, api]) => api);
  return open.map((circuit) => ({
    ...circuit,
    integrations: (byApi.get(circuit.api) ?? []).map(([name]) => name),
  }));
}
