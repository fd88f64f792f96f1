import { activate } from '../brand/active.ts';
import type { Brand } from '../brand/brand.ts';
import type { StoredDocument } from '../documents/stored.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Pool } from '../store/db/pool.ts';
import { currentDocuments, documentAt } from '../store/documents/documents.ts';
import type { JsonObject } from '../terms.ts';

/** The integration and the connector at the versions that a record was read with. */
export async function recordedDocuments(
  pool: Pool,
  name: string,
  integrationVersion: number,
  connectorVersion: number,
): Promise<readonly StoredDocument[] | undefined> {
  const integration = await documentAt(pool, 'integration', name, integrationVersion);
  const { connector: connectorName = '' } = (integration?.body ?? {}) as { connector?: string };
  const connector = await documentAt(pool, 'connector', connectorName, connectorVersion);
  return integration && connector && [connector, integration];
}

/** The integration at recorded versions. They map the payload; where the brand delivers to is a matter of today. */
export async function recordedIntegration(
  runtime: Runtime,
  name: string,
  integrationVersion: number,
  connectorVersion: number,
): Promise<Brand | undefined> {
  const current = runtime.active().integrations.get(name);
  const recorded = await recordedDocuments(runtime.pool, name, integrationVersion, connectorVersion);
  if (recorded === undefined || current === undefined) return undefined;
  const destinations = await currentDocuments(runtime.pool, 'destination');
  const workspace = await currentDocuments(runtime.pool, 'workspace');
  const documents = recorded.map((one) => deliveringTo(current.body.deliver, one));
  return activate([...documents, ...destinations, ...workspace], runtime.active().erasure).integrations.get(name);
}

function deliveringTo(deliver: readonly string[], document: StoredDocument): StoredDocument {
  if (document.kind !== 'integration') return document;
  return { ...document, body: { ...(document.body as JsonObject), deliver: [...deliver] } };
}
