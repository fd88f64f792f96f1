import type { Reservation } from '../../canonical/reservation.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

/** The part of a reservation that the measures read. Nothing in it names a guest. */
export function stayText(record: Reservation): string {
  const { status, check_in, check_out, booking_date, cancelled_at, channel, source, segment } = record;
  const { total_amount, currency, rooms = [], charges = [] } = record;
  return JSON.stringify({
    status,
    check_in,
    check_out,
    booking_date,
    cancelled_at,
    channel,
    source,
    segment,
    total_amount,
    currency,
    rooms: rooms.map(({ board: _, rate_code: __, ...room }) => room),
    charges: charges.flatMap(({ charge_kind, charge_date, amount, tax_amount }) =>
      charge_kind === 'room' ? [{ charge_kind, charge_date, amount, tax_amount }] : [],
    ),
  });
}

const soldRows = rowsTable(2, { text: ['id', 'data'], float8: ['ms'] });

/** Keeps the newest state of reservations that a rule drops: they are not records, but the hotel has sold them. */
export async function keepSold(tx: Tx, integration: string, steps: readonly Decided[]): Promise<void> {
  const sold = new Map<string, { readonly id: string; readonly ms: number; readonly data: string }>();
  for (const { statement, decision } of steps) {
    if (!('sold' in decision) || decision.sold === undefined) continue;
    const { id, receipt } = statement;
    const ms = receipt.effectiveAt;
    if (ms >= (sold.get(id)?.ms ?? 0)) sold.set(id, { id, ms, data: stayText(decision.sold) });
  }
  if (sold.size === 0) return;
  await tx.query(
    `insert into stays as s (integration, id, version, from_at, data)
     select $1, id, 0, to_timestamp(ms / 1000.0), data::json from ${soldRows.sql} order by id
         on conflict (integration, id, version) do update set from_at = excluded.from_at, data = excluded.data
      where s.from_at <= excluded.from_at and s.data::text <> excluded.data::text`,
    [integration, ...soldRows.values([...sold.values()])],
  );
}
