import { hash } from 'node:crypto';
import { type Keyring, keyIdOf, openText, seal } from '../../../kit/crypto.ts';
import type { Spool } from '../../../kit/spool.ts';
import { isSqlState } from '../../../kit/sql-state.ts';
import type { IntegrationName } from '../../../terms.ts';
import type { PendingConsent, Renewal, StoredTokens, TokenSet, TokenStore } from '../../outbound/ask/ports.ts';
import { cellOf, hitsOne, type Pool, rowOf, type Tx } from '../db/pool.ts';
import { putSecret } from '../documents/secrets.ts';

interface TokenRow {
  readonly generation: number;
  readonly access: Buffer | null;
  readonly refresh: Buffer | null;
  readonly expires_at: Date | null;
  readonly renewing_since: Date | null;
  readonly lost: string | null;
}

/** A node that waits longer for the lock reports a failure that may be retried. */
const lockTimeoutMs = 30_000;

/** After a rotation: seals the renewals in the spool with the first key of the ring. */
export function resealRenewals(spool: Spool, keyring: Keyring): void {
  for (const name of spool.names()) {
    const integration = /^renewal (.+)$/s.exec(name)?.[1];
    const bytes = integration === undefined ? undefined : spool.get(name);
    if (integration === undefined || bytes === undefined || keyIdOf(bytes) === keyring[0].id) continue;
    const renewal = openText(keyring, bytes, about(integration, 'renewal'));
    if (renewal !== undefined) spool.put(name, seal(keyring, renewal, about(integration, 'renewal')));
  }
}

/**
 * Encrypted tokens. `spool` keeps a renewal's answer on this node's disk until the commit is confirmed: otherwise a single-use
 * refresh token would be lost if the process died between the partner's answer and the commit.
 */
export function openTokenStore(pool: Pool, keyring: Keyring, spool?: Spool): TokenStore {
  const renewing = new Map<string, Promise<Renewal>>();
  const spoolName = (integration: IntegrationName) => `renewal ${integration}`;

  async function read(db: Pool | Tx, integration: IntegrationName, identity: string): Promise<StoredTokens> {
    const row = await rowOf(db)<TokenRow>(
      `select generation, access, refresh, expires_at, renewing_since, lost from partner_accounts
        where integration = $1 and identity = $2`,
      [integration, identity],
    );
    if (row === undefined) return { generation: 0, interrupted: false };
    const accessToken = row.access ? openText(keyring, row.access, about(integration, 'access')) : undefined;
    const refreshToken = row.refresh ? openText(keyring, row.refresh, about(integration, 'refresh')) : undefined;
    return {
      generation: row.generation,
      interrupted: row.renewing_since !== null,
      ...(accessToken !== undefined && {
        tokens: {
          accessToken,
          ...(refreshToken !== undefined && { refreshToken }),
          ...(row.expires_at !== null && { expiresAt: row.expires_at.getTime() }),
        },
      }),
      ...(row.lost !== null && { lost: row.lost }),
    };
  }

  async function write(db: Pool | Tx, integration: IntegrationName, identity: string, tokens: TokenSet): Promise<void> {
    await db.query(
      `insert into partner_accounts as t (integration, identity, generation, access, refresh, expires_at)
       values ($1, $2, 1, $3, $4, to_timestamp($5::float8 / 1000.0))
       on conflict (integration) do update
          set identity = $2, generation = t.generation + 1, access = $3, refresh = $4,
              expires_at = to_timestamp($5::float8 / 1000.0), renewing_since = null, lost = null`,
      [
        integration,
        identity,
        seal(keyring, tokens.accessToken, about(integration, 'access')),
        tokens.refreshToken === undefined ? null : seal(keyring, tokens.refreshToken, about(integration, 'refresh')),
        tokens.expiresAt,
      ],
    );
  }

  /** The answer of an interrupted renewal, if it reached the spool. */
  function recovered(integration: IntegrationName, identity: string, generation: number): TokenSet | undefined {
    const bytes = spool?.get(spoolName(integration));
    const text = bytes && openText(keyring, bytes, about(integration, 'renewal'));
    if (text === undefined) return undefined;
    const kept = JSON.parse(text) as { identity: string; generation: number; tokens: TokenSet };
    return kept.identity === identity && kept.generation === generation ? kept.tokens : undefined;
  }

  /** Called under the lock. */
  async function renewOnce(
    db: Tx,
    integration: IntegrationName,
    { identity, seenGeneration, renew }: RenewalRequest,
  ): Promise<Renewal> {
    const stored = await read(db, integration, identity);
    if (stored.generation !== seenGeneration && stored.tokens !== undefined) {
      return { kind: 'renewed', tokens: stored.tokens };
    }
    const rescued = stored.interrupted ? recovered(integration, identity, stored.generation) : undefined;
    if (rescued !== undefined) {
      await write(db, integration, identity, rescued);
      spool?.remove(spoolName(integration));
      return { kind: 'renewed', tokens: rescued };
    }
    await beginRenewal(db, integration, identity);
    const renewal = await renew(stored);
    if (renewal.kind === 'renewed') {
      const kept = JSON.stringify({ identity, generation: stored.generation, tokens: renewal.tokens });
      spool?.put(spoolName(integration), seal(keyring, kept, about(integration, 'renewal')));
      await write(db, integration, identity, renewal.tokens);
      spool?.remove(spoolName(integration));
    } else {
      await endRenewal(db, integration, renewal.kind === 'lost' ? renewal.message : undefined);
    }
    return renewal;
  }

  return {
    ...openConsents(pool, keyring),
    read: (integration, identity) => read(pool, integration, identity),
    save: (integration, identity, tokens) => write(pool, integration, identity, tokens),
    renew: (integration, identity, seenGeneration, renew) =>
      shared(renewing, `${integration} ${seenGeneration} ${identity}`, () =>
        locked(pool, `partner_tokens ${integration}`, (db) =>
          renewOnce(db, integration, { identity, seenGeneration, renew }),
        ),
      ),
  };
}

interface RenewalRequest {
  readonly identity: string;
  readonly seenGeneration: number;
  readonly renew: (stored: StoredTokens) => Promise<Renewal>;
}

/** Committed before the request is sent: a mark found without the lock means that the process died during the renewal. */
async function beginRenewal(db: Tx, integration: IntegrationName, identity: string): Promise<void> {
  await db.query(
    `insert into partner_accounts as t (integration, identity, renewing_since) values ($1, $2, now())
     on conflict (integration) do update
        set renewing_since = now(), identity = $2,
            access = case when t.identity = $2 then t.access end, refresh = case when t.identity = $2 then t.refresh end`,
    [integration, identity],
  );
}

/** A failure that may be retried keeps the tokens; a final refusal clears them. */
async function endRenewal(db: Tx, integration: IntegrationName, lost: string | undefined): Promise<void> {
  await db.query(
    `update partner_accounts set renewing_since = null, lost = $2, generation = generation + case when $2::text is null then 0 else 1 end,
            access = case when $2::text is null then access end, refresh = case when $2::text is null then refresh end
      where integration = $1`,
    [integration, lost],
  );
}

/** Shared within a process, because each waiter for the lock would hold a connection. */
function shared(under: Map<string, Promise<Renewal>>, key: string, work: () => Promise<Renewal>): Promise<Renewal> {
  return under.getOrInsertComputed(key, () => work().finally(() => under.delete(key)));
}

/** One at a time over all nodes, on its own connection; each statement inside commits by itself. */
async function locked(pool: Pool, name: string, work: (db: Tx) => Promise<Renewal>): Promise<Renewal> {
  const db = await pool.connect();
  let broken: Error | undefined;
  try {
    await db.query(`set lock_timeout = ${lockTimeoutMs}`);
    await db.query('select pg_advisory_lock(hashtextextended($1, 0))', [name]);
    return await work(db);
  } catch (error) {
    if (isSqlState(error, 'lockNotAvailable')) {
      return { kind: 'failed', message: 'another node has been renewing the token for half a minute' };
    }
    broken = error as Error;
    throw error;
  } finally {
    if (broken === undefined) {
      await db.query('select pg_advisory_unlock_all()').catch((error: Error) => (broken = error));
      await db.query('reset lock_timeout').catch((error: Error) => (broken = error));
    }
    db.release(broken);
  }
}

/** Whether the brand has tokens that may still be valid. */
export const holdsTokens = (db: Pool, integration: string): Promise<boolean> =>
  hitsOne(db)('select 1 from partner_accounts where integration = $1 and access is not null and lost is null limit 1', [
    integration,
  ]);

/** A sealed text opens only for the integration and the purpose that it was made for. */
const about = (integration: string, what: string) => `partner token ${integration} ${what}`;

/** Authorizations that a person has begun at a partner, until the partner redirects back. */
function openConsents(pool: Pool, keyring: Keyring): Pick<TokenStore, 'saveConsent' | 'takeConsent'> {
  const nameOf = (state: string) => `innbound.consent ${hash('sha256', state)}`;
  return {
    saveConsent: ({ state, ...kept }) =>
      putSecret(pool, nameOf(state), seal(keyring, JSON.stringify(kept), nameOf(state))),
    async takeConsent(state, lifetimeMs) {
      const sealed = await cellOf(pool)<Buffer>(
        `delete from secrets where name = $1 and updated_at > now() - $2 * interval '1 ms' returning sealed`,
        [nameOf(state), lifetimeMs],
      );
      const text = sealed && openText(keyring, sealed, nameOf(state));
      return text === undefined ? undefined : { ...(JSON.parse(text) as Omit<PendingConsent, 'state'>), state };
    },
  };
}
