import type { Reservation } from '../../canonical/reservation.ts';
import type { ApplyTarget } from '../../reconcile/apply-target.ts';
import type { Message, Prepared } from '../../reconcile/incoming.ts';
import { texts } from '../db/columns.ts';
import type { Pool, Tx } from '../db/pool.ts';

/**
 * A brand that moved to another system continues its earlier reservations under the ids that they had: every destination has them under these.
 * What the new system says about them arrives under its own ids, which are replaced here (docs/adr/0018-brand-move.md). For other
 * brands nothing is read.
 */
export async function withStoredIds(
  tx: Tx,
  target: ApplyTarget,
  prepared: readonly Prepared[],
): Promise<readonly Prepared[]> {
  if (target.idPrefix === undefined) return prepared;
  const ids = prepared.flatMap((one) => idOf(one) ?? []);
  const stored = await storedIds(tx, target, ids);
  if (stored.size === 0) return prepared;
  return prepared.map((one) => {
    const id = stored.get(idOf(one) ?? '');
    return id === undefined ? one : underId(one, id);
  });
}

/** The id under which the reservation is stored. */
export async function storedId(db: Pool | Tx, target: ApplyTarget, id: string): Promise<string> {
  return target.idPrefix === undefined ? id : ((await storedIds(db, target, [id])).get(id) ?? id);
}

/** The id by which the partner knows the reservation; undefined if it is one of the system that the brand left. */
export async function partnerId(db: Pool | Tx, target: ApplyTarget, id: string): Promise<string | undefined> {
  const { idPrefix: prefix } = target;
  if (prefix === undefined) return id;
  const { rows } = await db.query<{ partner_id: string | null }>(
    `select partner_id from records where integration = $1 and type = 'reservation' and id = $2`,
    [target.integration, id],
  );
  const known = rows[0]?.partner_id ?? id;
  return known.startsWith(prefix) ? known.slice(prefix.length) : undefined;
}

export async function storedIds(
  db: Pool | Tx,
  target: ApplyTarget,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; partner_id: string }>({
    name: 'stored-ids',
    text: `select id, partner_id from records where integration = $1 and partner_id = any($2::text[])`,
    values: [target.integration, texts(ids)],
  });
  return new Map(rows.map(({ id, partner_id }) => [partner_id, id]));
}

function idOf(one: Prepared): string | undefined {
  if (one.kind === 'record') return one.incoming.type === 'reservation' ? one.incoming.id : undefined;
  if (one.kind === 'dropped') return one.type === 'guest' ? undefined : one.id;
  return one.deadLetter.type === 'reservation' ? (one.deadLetter.id ?? one.message?.id) : undefined;
}

function underId(one: Prepared, id: string): Prepared {
  const message = one.message && { message: messageUnderId(one.message, id) };
  if (one.kind === 'dropped') return { ...one, ...message, id };
  if (one.kind === 'dead') return { ...one, ...message, deadLetter: { ...one.deadLetter, id } };
  const record = { ...(one.incoming.record as Reservation), id };
  return { ...one, ...message, incoming: { ...one.incoming, id, record } };
}

function messageUnderId(message: Message, id: string): Message {
  return {
    ...message,
    id,
    says: () => {
      const said = message.says();
      return 'id' in said.values ? { ...said, values: { ...said.values, id } } : said;
    },
  };
}
