import type { Pool } from '../store/db/pool.ts';
import { documentAt, type StoredDocument } from '../store/documents/documents.ts';

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
