import { randomSecret } from '../kit/crypto.ts';
import { randomId } from '../kit/ids.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type Pool, type Tx, transaction } from '../store/db/pool.ts';
import type { TokenRole } from '../store/operate/tokens.ts';
import { insertToken, type TokenRow, takeSignIn } from '../store/operate/tokens.ts';

export interface Grant {
  readonly name: string;
  readonly role: TokenRole;
  /** Null: every brand. */
  readonly integrations: readonly string[] | null;
  readonly by: string;
  readonly lifeMs?: number | undefined;
}

const signInLifeMs = 24 * 3_600_000;
const sessionLifeMs = 12 * 3_600_000;

/** Creates an API token. Only its hash is stored, so the answer is the only copy. */
export async function createToken(
  runtime: Pick<Runtime, 'pool'>,
  grant: Grant,
): Promise<{ token: string; row: TokenRow }> {
  const token = randomSecret('ib_');
  const { by: createdBy, ...rest } = grant;
  const row = await insertToken(runtime.pool, { ...rest, createdBy, kind: 'api', tokenId: randomId('tok'), token });
  return { token, row };
}

/** Creates a link that signs in to the console once. The token is after the #, so that no server or proxy logs it. */
export async function createSignIn(
  runtime: Pick<Runtime, 'pool'>,
  grant: Partial<Grant> = {},
): Promise<{ path: string; expires_at: Date }> {
  const token = randomSecret('ibs_');
  const row = await insertToken(runtime.pool, {
    kind: 'sign_in',
    tokenId: randomId('sgn'),
    token,
    name: grant.name ?? 'sign-in link',
    role: grant.role ?? 'admin',
    integrations: grant.integrations ?? null,
    createdBy: grant.by ?? 'command line',
    lifeMs: grant.lifeMs ?? signInLifeMs,
  });
  return { path: `/sign-in#${token}`, expires_at: row.expires_at ?? new Date(0) };
}

/** Creates a session from an API token, or from a sign-in link, which the same transaction uses up. */
export async function createSession(
  runtime: Pick<Runtime, 'pool'>,
  shown: string,
): Promise<{ session: string; row: TokenRow } | undefined> {
  return transaction(runtime.pool, async (tx) => {
    const from = await takeSignIn(tx, shown);
    if (from === undefined) return undefined;
    const { name, role, integrations, token_id: by } = from;
    return insertSession(tx, { name, role, integrations, by, parent: by });
  });
}

/** Creates a session for a person who signed in through an identity provider. */
export async function openSession(
  runtime: Pick<Runtime, 'pool'>,
  grant: Grant & { readonly subject: string },
): Promise<{ session: string; row: TokenRow }> {
  return insertSession(runtime.pool, grant);
}

async function insertSession(
  db: Pool | Tx,
  { name, role, integrations, by, parent, subject }: Grant & { readonly parent?: string; readonly subject?: string },
): Promise<{ session: string; row: TokenRow }> {
  const session = randomSecret('ibc_');
  const row = await insertToken(db, {
    kind: 'session',
    tokenId: randomId('ses'),
    token: session,
    name,
    role,
    integrations,
    createdBy: by,
    lifeMs: sessionLifeMs,
    ...(parent !== undefined && { parent }),
    ...(subject !== undefined && { subject }),
  });
  return { session, row };
}
