import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';

export type TokenRole = 'feed' | 'viewer' | 'operator' | 'admin';

type TokenKind = 'api' | 'sign_in' | 'session';

export interface TokenRow {
  readonly token_id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly role: TokenRole;
  /** Null: every brand. */
  readonly integrations: readonly string[] | null;
  readonly created_at: Date;
  readonly created_by: string;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
  /** Set for a session from an identity provider. */
  readonly subject: string | null;
}

export interface NewToken {
  readonly tokenId: string;
  readonly kind: TokenKind;
  readonly token: string;
  readonly name: string;
  readonly role: TokenRole;
  readonly integrations: readonly string[] | null;
  readonly createdBy: string;
  readonly lifeMs?: number | undefined;
  /** The token that this one was created from. It ends with its parent. */
  readonly parent?: string;
  /** Issuer and subject, if the person signed in through an identity provider. */
  readonly subject?: string;
}

const columns =
  'token_id, kind, name, role, integrations, created_at, created_by, expires_at, last_used_at, revoked_at, subject';

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export async function insertToken(db: Pool | Tx, token: NewToken): Promise<TokenRow> {
  const { rows } = await db.query<TokenRow>(
    `insert into tokens (token_id, kind, hash, name, role, integrations, created_by, expires_at, parent,
                         subject)
     values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms', $9, $10) returning ${columns}`,
    [
      token.tokenId,
      token.kind,
      hashOf(token.token),
      token.name,
      token.role,
      token.integrations,
      token.createdBy,
      token.lifeMs ?? null,
      token.parent ?? null,
      token.subject ?? null,
    ],
  );
  return rows[0] as TokenRow;
}

const valid = `t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`;

/** A session ends after this time without use. */
const idleAfter = `interval '2 hours'`;

/**
 * The caller's token, if it and its parent are valid: a session ends with the API token that it was created from. A sign-in
 * link is used up by its session, which therefore outlives it. The last use is recorded once a minute, unless `use` is false.
 */
export async function findToken(db: Pool, token: string, use = true): Promise<TokenRow | undefined> {
  const { rows } = await db.query<TokenRow & { stale: boolean }>(
    `select ${columns.replace(/\w+/g, 't.$&')}, coalesce(t.last_used_at < now() - interval '1 minute', true) as stale
       from tokens t left join tokens p on p.token_id = t.parent
      where t.hash = $1 and t.kind in ('api', 'session') and ${valid}
        and (t.kind <> 'session' or coalesce(t.last_used_at, t.created_at) > now() - ${idleAfter})
        and (p.token_id is null or p.kind = 'sign_in'
             or (p.revoked_at is null and (p.expires_at is null or p.expires_at > now())))`,
    [hashOf(token)],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { stale, ...found } = row;
  if (stale && use) await db.query('update tokens set last_used_at = now() where token_id = $1', [found.token_id]);
  return found;
}

/** The credential that a session can be created from: a sign-in link, which this uses up, or an API token that may use the console. */
export async function takeSignIn(tx: Tx, token: string): Promise<TokenRow | undefined> {
  const { rows } = await tx.query<TokenRow>(
    `update tokens t set last_used_at = now(), revoked_at = case when kind = 'sign_in' then now() end
      where hash = $1 and kind in ('sign_in', 'api') and role <> 'feed' and ${valid} returning ${columns}`,
    [hashOf(token)],
  );
  return rows[0];
}

/** Active tokens, newest first; all of them without a limit. */
export async function listTokens(
  db: Pool,
  {
    before,
    limit,
    of,
  }: {
    readonly before?: { at: string; id: string } | undefined;
    readonly limit?: number;
    readonly of?: 'people' | 'programs' | undefined;
  } = {},
): Promise<TokenRow[]> {
  const { rows } = await db.query<TokenRow>(
    `select ${columns} from tokens t
      where ${valid} and ($4::text is null or (kind = 'api') = ($4 = 'programs')) and ($1::timestamptz is null or (date_trunc('milliseconds', created_at), token_id) < ($1, $2))
      order by date_trunc('milliseconds', created_at) desc, token_id desc limit $3`,
    [before?.at ?? null, before?.id ?? '', limit ?? null, of ?? null],
  );
  return rows;
}

/** Revokes a token and the sessions created from it. */
export async function revokeToken(db: Pool | Tx, tokenId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update tokens set revoked_at = now() where (token_id = $1 or parent = $1) and revoked_at is null`,
    [tokenId],
  );
  return (rowCount ?? 0) > 0;
}

/** Ends every session of the person, or of the API token, that this session belongs to. Returns how many. */
export async function revokeSessionsOf(db: Pool, tokenId: string): Promise<number> {
  const { rowCount } = await db.query(
    `update tokens t set revoked_at = now() from tokens own
      where own.token_id = $1 and t.kind = 'session' and t.revoked_at is null
        and (t.token_id = own.token_id or t.subject = own.subject or t.parent = own.parent)`,
    [tokenId],
  );
  return rowCount ?? 0;
}

/** Ends every session of the person with this subject at the identity provider. Returns how many. */
export async function revokeSessionsOfSubject(db: Pool, subject: string): Promise<number> {
  const { rowCount } = await db.query(
    `update tokens set revoked_at = now() where subject = $1 and kind = 'session' and revoked_at is null`,
    [subject],
  );
  return rowCount ?? 0;
}

/** Ends the session of this token, for a browser that signs in again. */
export async function revokeSession(db: Pool, token: string): Promise<void> {
  await db.query(`update tokens set revoked_at = now() where hash = $1 and kind = 'session' and revoked_at is null`, [
    hashOf(token),
  ]);
}

/** Deletes tokens that ended 90 days ago; until then the audit log can refer to them. */
export async function pruneTokens(db: Pool): Promise<number> {
  const { rowCount } = await db.query(
    `delete from tokens where coalesce(revoked_at, expires_at) < now() - interval '90 days'`,
  );
  return rowCount ?? 0;
}
