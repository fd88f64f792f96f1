import type { Brand } from '../../brand/brand.ts';
import type { Statement } from '../../reconcile/forms.ts';
import { texts } from '../db/columns.ts';
import { cellOf, type Pool, type Tx } from '../db/pool.ts';

/**
 * A brand that moved to another system continues its earlier reservations under the ids that they had: every destination has them under these.
 * What the new system says about them arrives under its own ids, which are replaced here (docs/adr/0018-brand-move.md). For other
 * brands nothing is read.
 */
export async function withStoredIds(
  tx: Tx,
  brand: Pick<Brand, 'integration' | 'idPrefix'>,
  statements: readonly Statement[],
): Promise<readonly Statement[]> {
  if (brand.idPrefix === undefined) return statements;
  const ids = statements.flatMap(({ type, id }) => (type === 'reservation' && id !== '' ? [id] : []));
  const stored = await storedIds(tx, brand, ids);
  if (stored.size === 0) return statements;
  return statements.map((one) => {
    const id = one.type === 'reservation' ? stored.get(one.id) : undefined;
    return id === undefined ? one : underId(one, id);
  });
}

/** The id under which the reservation is stored. */
export async function storedId(
  db: Pool | Tx,
  target: Pick<Brand, 'integration' | 'idPrefix'>,
  id: string,
): Promise<string> {
  return target.idPrefix === undefined ? id : ((await storedIds(db, target, [id])).get(id) ?? id);
}

/** The id by which the partner knows the reservation; undefined if it is one of the system that the brand left. */
export async function partnerId(
  db: Pool | Tx,
  target: Pick<Brand, 'integration' | 'idPrefix'>,
  id: string,
): Promise<string | undefined> {
  const { idPrefix: prefix } = target;
  if (prefix === undefined) return id;
  const stored = await cellOf(db)<string | null>(
    `select partner_id from records where integration = $1 and type = 'reservation' and id = $2`,
    [target.integration, id],
  );
  const known = stored ?? id;
  return known.startsWith(prefix) ? known.slice(prefix.length) : undefined;
}

export async function storedIds(
  db: Pool | Tx,
  target: Pick<Brand, 'integration' | 'idPrefix'>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; partner_id: string }>({
    name: 'stored-ids',
    text: `select id, partner_id from records where integration = $1 and partner_id = any($2::text[])`,
    values: [target.integration, texts(ids)],
  });
  return new Map(rows.map(({ id, partner_id }) => [partner_id, id]));
}

function underId(statement: Statement, id: string): Statement {
  const { content, record, failure } = statement;
  return {
    ...statement,
    id,
    ...(content && { content: 'id' in content.values ? { ...content, values: { ...content.values, id } } : content }),
    ...(record && { record: { ...record, id } }),
    ...(failure && { failure: { ...failure, id } }),
  };
}
