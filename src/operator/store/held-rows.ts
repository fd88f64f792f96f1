import type { HeldFiles, HeldInFile } from '../../core/deliver/destination.ts';
import { rowsTable } from '../../core/store/db/columns.ts';
import { columnOf, mapOf, type Pool, rowsOf, transaction } from '../../core/store/db/pool.ts';

const added = rowsTable(2, {
  text: ['integration', 'type', 'id', 'digest', 'file'],
  int: ['epoch', 'version', 'removed', 'place'],
});

/** The place for what an audit found in the files of a destination. */
export const heldFiles = (db: Pool, destination: string): HeldFiles => ({
  files: () =>
    mapOf(db)(`select id, digest from held_rows where destination = $1 and integration = '' and type = 'file'`, [
      destination,
    ]),
  clear: async () => void (await db.query('delete from held_rows where destination = $1', [destination])),
  async add(file, state, rows) {
    // Of the same version the later one counts: a repair writes it again.
    const newest = new Map<string, HeldInFile>();
    for (const row of rows) {
      const key = `${row.integration} ${row.type} ${row.id}`;
      const known = newest.get(key);
      if (!known || (row.epoch - known.epoch || row.version - known.version) >= 0) newest.set(key, row);
    }
    const values = [...newest.values()].map(({ isRemoved, ...row }) => ({ ...row, removed: isRemoved ? 1 : 0, file }));
    await transaction(db, async (tx) => {
      await tx.query(
        `insert into held_rows as h (destination, integration, type, id, epoch, version, removed, digest, file, place)
         select $1, t.integration, t.type, t.id, t.epoch, t.version, t.removed = 1, t.digest, t.file, t.place from ${added.sql}
             on conflict (destination, integration, type, id) do update
            set epoch = excluded.epoch, version = excluded.version, removed = excluded.removed, digest = excluded.digest,
                file = excluded.file, place = excluded.place
          where (h.epoch, h.version) <= (excluded.epoch, excluded.version)`,
        [destination, ...added.values(values)],
      );
      await tx.query(
        `insert into held_rows values ($1, '', 'file', $2, 1, 1, false, $3, $2, 0) on conflict do nothing`,
        [destination, file, state],
      );
    });
  },
  find: ({ integration, type }, ids) =>
    rowsOf(db)(
      `select integration, type, id, epoch, version, removed as "isRemoved", digest, file, place from held_rows
        where destination = $1 and integration = $2 and type = $3 and id = any($4)`,
      [destination, integration, type, ids],
    ),
  ids: ({ integration, type }, after, limit) =>
    columnOf(db)(
      `select id from held_rows where destination = $1 and integration = $2 and type = $3 and id > $4 and not removed
        order by id limit $5`,
      [destination, integration, type, after, limit],
    ),
  integrations: () =>
    columnOf(db)(
      `select distinct integration from held_rows where destination = $1 and type <> 'file' and not removed`,
      [destination],
    ),
});
