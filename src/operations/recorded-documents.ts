import type { Pool } from '../store/db/pool.ts';
import { documentAt, type StoredDocument } from '../store/documents/documents.ts';

/** An integration and its connector as they were at these versions: what a record was read by. */
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
