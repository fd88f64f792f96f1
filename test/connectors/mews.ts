import type { Json } from '../../src/terms.ts';
import type { Asked, Reply } from '../intake/pull/support/partner.ts';

export type Row = { readonly [key: string]: Json };

/** Which ids each operation takes, and the key of its rows that holds them. */
const operations: Readonly<Record<string, { table: string; asks: string; by: string; extent?: true }>> = {
  'companionships/getAll': { table: 'Companionships', asks: 'ReservationIds', by: 'ReservationId', extent: true },
  'customers/getAll': { table: 'Customers', asks: 'CustomerIds', by: 'Id', extent: true },
  'orderItems/getAll': { table: 'OrderItems', asks: 'ServiceOrderIds', by: 'ServiceOrderId' },
  'resourceCategories/getAll': { table: 'ResourceCategories', asks: 'ServiceIds', by: 'ServiceId' },
  'rates/getAll': { table: 'Rates', asks: 'ServiceIds', by: 'ServiceId', extent: true },
  'ageCategories/getAll': { table: 'AgeCategories', asks: 'ServiceIds', by: 'ServiceId' },
};

/** The partner's API over the tables: every list needs a limitation, returns its last row as cursor, and accepts `mostIds` ids. */
export function mews(tables: Readonly<Record<string, readonly Row[]>>, mostIds: number) {
  return ({ method, path: at, body: text }: Asked): Reply => {
    const body = JSON.parse(text) as Record<string, Json>;
    const limitation = body.Limitation as { Count: number; Cursor?: string } | undefined;
    const refuse = (status: number, Message: string): Reply => ({ status, json: { Message } });
    if (
      method !== 'POST' ||
      body.ClientToken !== 'client' ||
      body.AccessToken !== 'access' ||
      body.Client !== 'Innbound 1.0'
    )
      return refuse(401, 'Invalid token');
    if (limitation === undefined) return refuse(400, 'Limitation is required');
    const page = (name: string, rows: readonly Row[]): Reply => {
      const start = limitation.Cursor === undefined ? 0 : rows.findIndex(({ Id }) => Id === limitation.Cursor) + 1;
      const some = rows.slice(start, start + Math.min(limitation.Count, 2));
      return { json: { [name]: some, Cursor: some.at(-1)?.Id ?? null } };
    };
    const operation = at.replace('/api/connector/v1/', '');
    if (operation === 'reservations/getAll/2023-06-06') {
      const ids = body.ReservationIds as string[] | undefined;
      const rows = tables.Reservations ?? [];
      return page('Reservations', ids === undefined ? rows : rows.filter(({ Id }) => ids.includes(String(Id))));
    }
    const found = operations[operation];
    if (found === undefined) return refuse(404, 'no such operation');
    const ids = body[found.asks] as string[] | undefined;
    if (ids === undefined || ids.length > mostIds) return refuse(400, `${found.asks}: 1 to ${mostIds}`);
    if (found.extent && typeof body.Extent !== 'object') return refuse(400, 'Extent is required');
    const rows = (tables[found.table] ?? []).filter((row) => ids.includes(String(row[found.by])));
    // A table with one row per id is returned complete: there are never more rows than requested ids.
    return found.table === 'Customers' ? { json: { Customers: rows, Cursor: null } } : page(found.table, rows);
  };
}
