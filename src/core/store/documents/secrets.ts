import { type Keyring, open, seal } from '../../../kit/crypto.ts';
import { cellOf, hitsOne, type Pool, rowsOf, type Tx, transaction } from '../db/pool.ts';

/** Stores a secret that the caller has sealed: the store never sees plain text. */
export async function putSecret(db: Pool | Tx, name: string, sealed: Uint8Array): Promise<void> {
  await db.query(
    `insert into secrets (name, sealed) values ($1, $2)
     on conflict (name) do update set sealed = excluded.sealed, updated_at = now()`,
    [name, sealed],
  );
}

/** The secret of that name. Stores and returns the given one if there is none yet. */
export async function firstSecret(db: Pool | Tx, name: string, sealed: Uint8Array): Promise<Uint8Array> {
  await db.query('insert into secrets (name, sealed) values ($1, $2) on conflict (name) do nothing', [name, sealed]);
  return (await getSecret(db, name)) ?? sealed;
}

export const getSecret = (db: Pool | Tx, name: string): Promise<Uint8Array | undefined> =>
  cellOf(db)('select sealed from secrets where name = $1', [name]);

export const listSecrets = (db: Pool | Tx): Promise<{ name: string; updated_at: Date }[]> =>
  rowsOf(db)(
    `select name, updated_at from secrets where name not like 'innbound.%' and name not like 'typed\\_%' order by name`,
  );

export const deleteSecret = (db: Pool | Tx, name: string): Promise<boolean> =>
  hitsOne(db)('delete from secrets where name = $1', [name]);

/** Every column that holds sealed values, with the text that each value is bound to as SQL. */
const places = [
  {
    table: 'secrets',
    column: 'sealed',
    boundTo: `case when name like 'innbound.%' then name else 'secret ' || name end`,
  },
  { table: 'endpoint_secrets', column: 'sealed', boundTo: `'endpoint ' || endpoint_id || ' ' || secret_no` },
  { table: 'partner_accounts', column: 'access', boundTo: `'partner token ' || integration || ' access'` },
  { table: 'partner_accounts', column: 'refresh', boundTo: `'partner token ' || integration || ' refresh'` },
  {
    table: 'erased_identifiers',
    column: 'sealed',
    boundTo: `'erased ' || integration || ' ' || type || ' ' || id || ' ' || version`,
  },
] as const;

const keyId = (column: string) => `encode(substr(${column}, 2, 8), 'hex')`;

/** How many values each key has sealed. */
export async function countSealed(db: Pool | Tx): Promise<{ readonly key: string; readonly values: number }[]> {
  const all = places.map(
    ({ table, column }) => `select ${keyId(column)} as key from ${table} where ${column} is not null`,
  );
  return rowsOf(db)<{ key: string; values: number }>(
    `select key, count(*)::int as values from (${all.join(' union all ')}) as sealed group by key order by key`,
  );
}

/**
 * Seals up to `most` values of each place with the first key of the ring, in one transaction. Returns how many, and the values that do not
 * open although their key is in the ring; `damaged` values of earlier calls are skipped.
 */
export async function resealSome(
  pool: Pool,
  keyring: Keyring,
  damaged: readonly string[],
  most: number,
): Promise<{ readonly resealed: number; readonly damaged: readonly string[] }> {
  return transaction(pool, (tx) => resealIn(tx, keyring, damaged, most, sealedTables));
}

/** The tables with sealed values. */
export const sealedTables: readonly string[] = [...new Set(places.map(({ table }) => table))];

/** The same in a transaction, and only in these tables. */
export async function resealIn(
  tx: Tx,
  keyring: Keyring,
  damaged: readonly string[],
  most: number,
  only: readonly string[],
): Promise<{ readonly resealed: number; readonly damaged: readonly string[] }> {
  const [, ...others] = keyring;
  let resealed = 0;
  const broken: string[] = [];
  for (const { table, column, boundTo } of places) {
    if (!only.includes(table)) continue;
    const { rows } = await tx.query<{ at: string; sealed: Buffer; bound_to: string }>(
      `select ctid::text as at, ${column} as sealed, ${boundTo} as bound_to from ${table}
          where ${keyId(column)} = any($1) and not (${boundTo} = any($2)) limit $3 for update`,
      [others.map(({ id }) => id), damaged, most],
    );
    for (const { at, sealed, bound_to: bound } of rows) {
      const opened = open(keyring, sealed, bound);
      if (opened.kind !== 'ok') {
        broken.push(bound);
        continue;
      }
      // The row lock keeps the row at its place until the commit.
      await tx.query(`update ${table} set ${column} = $2 where ctid = $1::tid`, [
        at,
        seal(keyring, opened.plaintext, bound),
      ]);
      resealed += 1;
    }
  }
  return { resealed, damaged: broken };
}

/**
 * Refuses the key from now on, unless a value that opens is still sealed with it. No value can be sealed between the check and the
 * commit, because the tables are locked.
 */
export async function retireKey(pool: Pool, retired: string, damaged: readonly string[]): Promise<boolean> {
  return transaction(pool, async (tx) => {
    await tx.query(`lock table ${sealedTables.join(', ')} in share row exclusive mode`);
    for (const { table, column, boundTo } of places) {
      const isUsed = await hitsOne(tx)(
        `select from ${table} where ${keyId(column)} = $1 and not (${boundTo} = any($2)) limit 1`,
        [retired, damaged],
      );
      if (isUsed) return false;
    }
    await tx.query('update replaced_keys set retired_at = now() where key_id = $1', [retired]);
    return true;
  });
}

interface ReplacedKey {
  readonly key_id: string;
  readonly replaced_by: string;
  readonly replaced_at: Date;
  /** Null while values may still be sealed with it. */
  readonly retired_at: Date | null;
}

export const replacedKeys = (db: Pool | Tx): Promise<ReplacedKey[]> =>
  rowsOf(db)('select key_id, replaced_by, replaced_at, retired_at from replaced_keys order by replaced_at');

export async function replaceKey(tx: Tx, replaced: string, by: string): Promise<void> {
  await tx.query('insert into replaced_keys (key_id, replaced_by) values ($1, $2)', [replaced, by]);
}

/** Undefined if another process is doing the same now. */
export async function rotatingAlone<T>(pool: Pool, work: () => Promise<T>): Promise<T | undefined> {
  const client = await pool.connect();
  try {
    const isFree = await cellOf(client)(`select pg_try_advisory_lock(hashtextextended('key rotation', 0))`);
    return isFree ? await work() : undefined;
  } finally {
    // Closing the connection releases the lock.
    client.release(true);
  }
}
