import assert from 'node:assert/strict';
import { read as stateOf } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { openIdentifiers } from '../../src/core/store/erasure/erased.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import type { EntityType, Json } from '../../src/terms.ts';
import type { ApiNode } from '../api/node.ts';

/** Every table as text, to find anything that is left of a person. */
export async function tablesWith(node: ApiNode, text: string): Promise<string[]> {
  const { rows } = await node.runtime.pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'innbound_service'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rows: hits } = await node.runtime.pool.query(`select from ${name} t where lower(t::text) like $1 limit 1`, [
      `%${text.toLowerCase()}%`,
    ]);
    if (hits.length > 0) found.push(name);
  }
  return found;
}

/** What destinations learn of an erased person, in the order of the versions of a record. */
export async function identifiersOf({ runtime }: ApiNode, id: string): Promise<Json[][]> {
  const { rows } = await runtime.pool.query<{ type: EntityType; version: number; sealed: Buffer }>(
    `select type, version, sealed from erased_identifiers where integration = 'grand' and id = $1 order by version`,
    [id],
  );
  const open = ({ sealed, ...row }: (typeof rows)[number]) =>
    openIdentifiers(runtime.keyring, { integration: 'grand', id, ...row }, sealed);
  return rows.map((row) => open(row) as unknown as Json[]);
}

/** Stores one message about a reservation, as of some time ago. */
export async function state(
  node: ApiNode,
  mode: 'pull' | 'push',
  value: { [field: string]: Json },
  agoMs = 0,
): Promise<void> {
  const grand = node.runtime.active().integrations.get('grand');
  assert.ok(grand);
  const raw = { key: String(value.id ?? value.reservation_id), value };
  const arrival = { mode, effectiveAt: Date.now() - agoMs, cause: 'run', causeId: 'run_test' } as const;
  await transaction(node.runtime.pool, (tx) => ingest(tx, grand, [stateOf(grand, raw, arrival)]));
}
