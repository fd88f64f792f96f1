import type { Pool, Tx } from '../db/pool.ts';

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

export async function getSecret(db: Pool | Tx, name: string): Promise<Uint8Array | undefined> {
  const { rows } = await db.query<{ sealed: Buffer }>('select sealed from secrets where name = $1', [name]);
  return rows[0]?.sealed;
}

export async function listSecrets(db: Pool | Tx): Promise<{ name: string; updated_at: Date }[]> {
  const { rows } = await db.query<{ name: string; updated_at: Date }>(
    `select name, updated_at from secrets where name not like 'innbound.%' and name not like 'typed\\_%' order by name`,
  );
  return rows;
}

export async function deleteSecret(db: Pool | Tx, name: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from secrets where name = $1', [name]);
  return rowCount === 1;
}
