import type pg from 'pg';
import { reservationWithoutMentions } from '../../../canonical/mentions.ts';
import type { Delivery } from '../../message.ts';
import { children, columns, stagedOnly, type Table, versionTexts as texts, versionColumns } from './tables.ts';

/**
 * Merges staging into the tables in one statement. A version that is older than the stored one, by epoch and then by version, changes
 * nothing. The same version is written again: it has the same content, unless a resend restores rows that were lost, or fields that the
 * destination did not get before. Child rows overwrite the old ones by position and the surplus is
 * deleted: deleting and inserting all of them would collide within one statement and leave twice the dead rows.
 */
export const stageName = (table: Table): string => `innbound_stage_${table}`;

/**
 * Temporary tables, so that staging writes no write-ahead log. They are dropped with the transaction: tables of a session would keep the
 * types of a column that its owner has changed since, and a pooler may give the next transaction another session.
 */
export function stageSql(schema: string, tables: readonly Table[]): string {
  return tables
    .map((table) => {
      const kept = columns[table].filter((column) => !stagedOnly.has(column));
      const staged = columns[table].flatMap((column) =>
        stagedOnly.has(column) ? [`null::${stagedOnly.get(column)} as ${column}`] : [],
      );
      return `create temporary table ${stageName(table)} on commit drop as
        select ${[...kept, ...staged].join(', ')} from ${schema}.${table} with no data;`;
    })
    .join('\n');
}

const counted: Record<(typeof children)[number], string> = {
  guests: 'guest_count',
  rooms: 'room_count',
  charges: 'charge_count',
};

/**
 * `asNew`: child rows of a new reservation are inserted without looking for old ones, which saves a quarter of the merge
 * (`bench deliver`). If someone deleted reservations and left their rooms, that fails (23505) and is repeated without.
 */
export function mergeReservationsSql(schema: string, { asNew }: { readonly asNew: boolean }): string {
  const own = columns.reservations.filter((column) => !stagedOnly.has(column));
  const parts = children.flatMap((table) => {
    const rest = columns[table].slice(3);
    const insert = `
        insert into ${schema}.${table} (${columns[table].join(', ')})
        select ${columns[table].map((column) => `s.${column}`).join(', ')}
          from ${stageName(table)} s join taken k on k.integration = s.integration and k.id = s.reservation_id`;
    return [
      ...(asNew ? [`${table}_new as (${insert} where k.fresh)`] : []),
      `${table}_put as (${insert}${asNew ? ' where not k.fresh' : ''}
            on conflict (integration, reservation_id, position) do update
           set ${rest.map((column) => `${column} = excluded.${column}`).join(', ')})`,
      `${table}_cut as (
        delete from ${schema}.${table} t using taken k, ${stageName('reservations')} s
         where ${asNew ? 'not k.fresh and ' : ''}s.integration = k.integration and s.id = k.id
           and t.integration = k.integration and t.reservation_id = k.id and t.position >= s.${counted[table]})`,
    ];
  });
  return `
    with taken as (
      insert into ${schema}.reservations as t (${own.join(', ')})
      select ${own.join(', ')} from ${stageName('reservations')}
          on conflict (integration, id) do update set ${updates(own)}, loaded_at = now()
       where (t.epoch, t.version) <= (excluded.epoch, excluded.version)
      returning t.integration, t.id, (t.xmax = 0) as fresh
    ), ${parts.join(', ')}, kept as (${keepVersionsSql(schema)})
    select count(*)::int as taken from taken`;
}

/** Every version is kept, also one that is not the newest; a repeated one has no effect. */
function keepVersionsSql(schema: string): string {
  const own = versionColumns.join(', ');
  return `insert into ${schema}.reservation_versions (${own})
          select ${own} from ${stageName('reservations')} on conflict (integration, id, epoch, version) do nothing`;
}

export function mergeProfilesSql(schema: string): string {
  const own = columns.guest_profiles;
  return `
    insert into ${schema}.guest_profiles as t (${own.join(', ')})
    select ${own.join(', ')} from ${stageName('guest_profiles')}
        on conflict (integration, id) do update set ${updates(own)}, loaded_at = now()
     where (t.epoch, t.version) <= (excluded.epoch, excluded.version)`;
}

/** An erasure does not bring a record back. */
const removedAt = `case when excluded.event = 'erased' then t.removed_at else excluded.removed_at end`;

function updates(names: readonly string[]): string {
  return names
    .filter((name) => name !== 'integration' && name !== 'id')
    .map((name) => `${name} = ${name === 'removed_at' ? removedAt : `excluded.${name}`}`)
    .join(', ');
}

type VersionRow = { readonly rooms: object[] | null; readonly [column: string]: unknown };

/** Earlier versions of a reservation hold no guests, but a text in them may name one. */
export async function eraseFromVersions(
  client: pg.PoolClient,
  schema: string,
  erasures: readonly Delivery[],
): Promise<void> {
  for (const { message, erased = [] } of erasures) {
    const key = [message.integration, message.data.id];
    const { rows } = await client.query<VersionRow>(
      `select epoch, version, rooms, ${texts.join(', ')} from ${schema}.reservation_versions where integration = $1 and id = $2`,
      key,
    );
    for (const row of rows) {
      const kept = reservationWithoutMentions(row, erased);
      if (kept === row) continue;
      await client.query(
        `update ${schema}.reservation_versions set rooms = $5, ${texts.map((text, i) => `${text} = $${i + 6}`).join(', ')}
          where integration = $1 and id = $2 and epoch = $3 and version = $4`,
        [
          ...key,
          row.epoch,
          row.version,
          kept.rooms && JSON.stringify(kept.rooms),
          ...texts.map((text) => kept[text] ?? null),
        ],
      );
    }
  }
}
