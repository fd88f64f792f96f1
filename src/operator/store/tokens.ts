import { hash } from 'node:crypto';
import { z } from 'zod';
import { changed, onlyRow, type Pool, rowOf, rowsOf, type Tx } from '../../core/store/db/pool.ts';
import { instant, type Row } from './answers.ts';

/** `feed` reads the feed of changes, with guest data, and nothing else. */
export const tokenRoles = ['feed', 'viewer', 'operator', 'admin'] as const;
export type TokenRole = (typeof tokenRoles)[number];

export const tokenSchema = z.object({
  token_id: z.string(),
  kind: z.enum(['api', 'sign_in', 'session']),
  name: z.string(),
  role: z.enum(tokenRoles),
  integrations: z.array(z.string()).nullable(),
  created_at: instant,
  created_by: z.string(),
  expires_at: instant.nullable(),
  last_used_at: instant.nullable(),
  revoked_at: instant.nullable(),
  subject: z.string().nullable().describe('Issuer and subject, if the person signed in through an identity provider.'),
});
export type TokenRow = Row<typeof tokenSchema>;

interface NewToken extends Pick<TokenRow, 'token_id' | 'kind' | 'name' | 'role' | 'integrations' | 'created_by'> {
  readonly token: string;
  readonly lifeMs?: number | undefined;
  /** The token that this one was created from. It ends with its parent. */
  readonly parent?: string;
  /** Issuer and subject, if the person signed in through an identity provider. */
  readonly subject?: string;
}

const columns = Object.keys(tokenSchema.shape).join(', ');

const hashOf = (token: string): Buffer => hash('sha256', token, 'buffer');

export async function insertToken(db: Pool | Tx, token: NewToken): Promise<TokenRow> {
  return onlyRow(db)<TokenRow>(
    `insert into tokens (token_id, kind, hash, name, role, integrations, created_by, expires_at, parent,
                         subject)
     values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms', $9, $10) returning ${columns}`,
    [
      token.token_id,
      token.kind,
      hashOf(token.token),
      token.name,
      token.role,
      token.integrations,
      token.created_by,
      token.lifeMs,
      token.parent,
      token.subject,
    ],
  );
}

const valid = `t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`;

/** A session ends after this time without use. */
const idleAfter = `interval '2 hours'`;

/**
 * The caller's token, if it and its parent are valid: a session ends with the API token that it was created from. A sign-in
 * link is used up by its session, which therefore outlives it. The last use is recorded once a minute, unless `use` is false.
 */
export async function findToken(db: Pool, token: string, use = true): Promise<TokenRow | undefined> {
  const row = await rowOf(db)<TokenRow & { stale: boolean }>(
    `select ${columns.replace(/\w+/g, 't.$&')}, coalesce(t.last_used_at < now() - interval '1 minute', true) as stale
       from tokens t left join tokens p on p.token_id = t.parent
      where t.hash = $1 and t.kind in ('api', 'session') and ${valid}
        and (t.kind <> 'session' or coalesce(t.last_used_at, t.created_at) > now() - ${idleAfter})
        and (p.token_id is null or p.kind = 'sign_in'
             or (p.revoked_at is null and (p.expires_at is null or p.expires_at > now())))`,
    [hashOf(token)],
  );
  if (row === undefined) return undefined;
  const { stale, ...owner } = row;
  if (stale && use) await db.query('update tokens set last_used_at = now() where token_id = $1', [owner.token_id]);
  return owner;
}

/** The credential that a session can be created from: a sign-in link, which this uses up, or an API token that may use the console. */
export const takeSignIn = (tx: Tx, token: string): Promise<TokenRow | undefined> =>
  rowOf(tx)(
    `update tokens t set last_used_at = now(), revoked_at = case when kind = 'sign_in' then now() end
      where hash = $1 and kind in ('sign_in', 'api') and role <> 'feed' and ${valid} returning ${columns}`,
    [hashOf(token)],
  );

/** Active tokens, newest first; all of them without a limit. */
export const listTokens = (
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
): Promise<TokenRow[]> =>
  rowsOf(db)(
    `select ${columns} from tokens t
      where ${valid} and ($4::text is null or (kind = 'api') = ($4 = 'programs')) and ($1::timestamptz is null or (date_trunc('milliseconds', created_at), token_id) < ($1, $2))
      order by date_trunc('milliseconds', created_at) desc, token_id desc limit $3`,
    [before?.at, before?.id ?? '', limit, of],
  );

/** Ends the tokens that meet the condition. Returns how many. */
const revoke = (db: Pool | Tx, which: string, value: unknown): Promise<number> =>
  changed(db)(`update tokens t set revoked_at = now() where t.revoked_at is null and ${which}`, [value]);

/** Revokes a token and the sessions created from it. */
export const revokeToken = async (db: Pool | Tx, tokenId: string): Promise<boolean> =>
  (await revoke(db, '(t.token_id = $1 or t.parent = $1)', tokenId)) > 0;

/** Ends every session of the person, or of the API token, that this session belongs to. */
export const revokeSessionsOf = (db: Pool, tokenId: string): Promise<number> =>
  revoke(
    db,
    `t.kind = 'session' and exists (select from tokens own where own.token_id = $1
        and (t.token_id = own.token_id or t.subject = own.subject or t.parent = own.parent))`,
    tokenId,
  );

/** Ends every session of the person with this subject at the identity provider. */
export const revokeSessionsOfSubject = (db: Pool, subject: string): Promise<number> =>
  revoke(db, `t.kind = 'session' and t.subject = $1`, subject);

/** Ends the session of this token, for a browser that signs in again. */
export const revokeSession = (db: Pool, token: string): Promise<number> =>
  revoke(db, `t.kind = 'session' and t.hash = $1`, hashOf(token));
