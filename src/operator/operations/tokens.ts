import { type Pool, type Tx, transaction } from '../../core/store/db/pool.ts';
import { randomSecret } from '../../kit/crypto.ts';
import { randomId } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { insertToken, type TokenRow, takeSignIn } from '../store/tokens.ts';

interface Grant extends Pick<TokenRow, 'name' | 'role' | 'integrations'> {
  readonly by: string;
  readonly lifeMs?: number | undefined;
}

/** Creates an API token. Only its hash is stored, so the answer is the only copy. */
export async function createToken({ pool }: Pick<Runtime, 'pool'>, { by, ...rest }: Grant) {
  const token = randomSecret('ib_');
  const row = await insertToken(pool, { ...rest, created_by: by, kind: 'api', token_id: randomId('tok'), token });
  return { token, row };
}

/** Creates a link that signs in to the console once. The token is after the #, so that no server or proxy logs it. */
export async function createSignIn({ pool }: Pick<Runtime, 'pool'>, grant: Partial<Grant> = {}) {
  const token = randomSecret('ibs_');
  const row = await insertToken(pool, {
    kind: 'sign_in',
    token_id: randomId('sgn'),
    token,
    name: grant.name ?? 'sign-in link',
    role: grant.role ?? 'admin',
    integrations: grant.integrations ?? null,
    created_by: grant.by ?? 'command line',
    lifeMs: grant.lifeMs ?? 24 * 3_600_000,
  });
  return { path: `/sign-in#${token}`, expires_at: row.expires_at ?? new Date(0) };
}

/** Creates a session from an API token, or from a sign-in link, which the same transaction uses up. */
export async function createSession({ pool }: Pick<Runtime, 'pool'>, shown: string) {
  return transaction(pool, async (tx) => {
    const from = await takeSignIn(tx, shown);
    if (from === undefined) return undefined;
    const { name, role, integrations, token_id: by } = from;
    return insertSession(tx, { name, role, integrations, by, parent: by });
  });
}

/** For a person who signed in through an identity provider, or by a token. */
export async function insertSession(
  db: Pool | Tx,
  { by, ...grant }: Omit<Grant, 'lifeMs'> & { readonly parent?: string; readonly subject?: string },
) {
  const session = randomSecret('ibc_');
  const row = await insertToken(db, {
    kind: 'session',
    token_id: randomId('ses'),
    token: session,
    created_by: by,
    lifeMs: 12 * 3_600_000,
    ...grant,
  });
  return { session, row };
}
