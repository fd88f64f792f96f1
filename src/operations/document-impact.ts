import type { DocumentKind } from '../documents/kinds.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { countRecords } from '../store/records/count.ts';

/** The brands that a document concerns, and their records. */
export interface DocumentImpact {
  readonly integrations: readonly string[];
  readonly records: { readonly reservation: number; readonly guest: number };
}

/** Which brands a change of a document concerns, and how many records they have. */
export async function documentImpact(runtime: Runtime, kind: DocumentKind, name: string): Promise<DocumentImpact> {
  const integrations = [...runtime.active().integrations.values()]
    .filter(
      (brand) =>
        kind === 'workspace' ||
        (kind === 'integration' && brand.integration === name) ||
        (kind === 'connector' && brand.connector.name === name) ||
        (kind === 'destination' && brand.body.deliver.includes(name)),
    )
    .map((brand) => brand.integration as string);
  return { integrations, records: await countRecords(runtime.pool, integrations) };
}
