import type { EndpointId, EpochMs, IntegrationName } from '../../terms.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** Encrypts secrets, bound to the endpoint and number that they are stored under. */
export interface Sealer {
  seal(plain: string, boundTo: string): Uint8Array;
  /** Undefined when it was sealed with another key: the secret then verifies nothing. */
  open(sealed: Uint8Array, boundTo: string): string | undefined;
}

interface Minter {
  endpointId(sandbox: boolean): string;
  secret(): string;
}

export interface IssuedEndpoint {
  readonly endpointId: EndpointId;
  readonly sandboxId: EndpointId;
  /** Only when it was just created: it cannot be read again. */
  readonly secret?: string;
  readonly secrets: readonly SecretState[];
}

interface SecretState {
  readonly secretNo: number;
  readonly issuedAt: EpochMs;
  readonly expiresAt?: EpochMs;
}

interface StoredEndpoint {
  readonly endpointId: EndpointId;
  readonly integration: IntegrationName;
  readonly sandbox: boolean;
  readonly retired: boolean;
  readonly secrets: readonly { readonly secretNo: number; readonly secret: string; readonly expiresAt?: EpochMs }[];
}

const boundTo = (endpointId: string, secretNo: number) => `endpoint ${endpointId} ${secretNo}`;

/** The integration's endpoint, created with its first secret if there is none yet. */
export async function issueEndpoint(
  tx: Tx,
  integration: string,
  sealer: Sealer,
  mint: Minter,
): Promise<IssuedEndpoint> {
  await lockEndpoints(tx, integration);
  const live = await liveEndpoint(tx, integration, false);
  const sandboxId = (await liveEndpoint(tx, integration, true)) ?? (await addEndpoint(tx, integration, true, mint));
  if (live !== undefined) return { endpointId: live, sandboxId, secrets: await secretStates(tx, live) };
  const endpointId = await addEndpoint(tx, integration, false, mint);
  const secret = await addSecret(tx, endpointId, 1, sealer, mint.secret());
  return { endpointId, sandboxId, secret, secrets: await secretStates(tx, endpointId) };
}

/**
 * Adds a secret. Older ones expire after the overlap, so that the sender can switch without losing an event; one that expires
 * sooner keeps its time.
 */
export async function rotateSecret(
  tx: Tx,
  integration: string,
  overlapMs: number,
  sealer: Sealer,
  secret: string,
): Promise<IssuedEndpoint | undefined> {
  await lockEndpoints(tx, integration);
  const endpointId = await liveEndpoint(tx, integration, false);
  const sandboxId = await liveEndpoint(tx, integration, true);
  if (endpointId === undefined || sandboxId === undefined) return undefined;
  await tx.query(
    `update endpoint_secrets
        set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $2))
      where endpoint_id = $1`,
    [endpointId, overlapMs / 1000],
  );
  // Secrets that expired long ago are deleted.
  await tx.query(`delete from endpoint_secrets where endpoint_id = $1 and expires_at < now() - interval '30 days'`, [
    endpointId,
  ]);
  const { rows } = await tx.query<{ next: number }>(
    'select coalesce(max(secret_no), 0) + 1 as next from endpoint_secrets where endpoint_id = $1',
    [endpointId],
  );
  await addSecret(tx, endpointId, rows[0]?.next ?? 1, sealer, secret);
  return { endpointId, sandboxId, secret, secrets: await secretStates(tx, endpointId) };
}

/** After this commits no node accepts an event for it, because the insert of events checks. */
export async function retireEndpoint(tx: Tx, integration: string): Promise<EndpointId | undefined> {
  await lockEndpoints(tx, integration);
  const { rows } = await tx.query<{ endpoint_id: EndpointId; sandbox: boolean }>(
    `update endpoints set retired_at = clock_timestamp()
      where integration = $1 and retired_at is null returning endpoint_id, sandbox`,
    [integration],
  );
  return rows.find((row) => !row.sandbox)?.endpoint_id;
}

/** The given endpoints, or all that are not retired. A sandbox endpoint has the secrets of the integration's live one. */
export async function loadEndpoints(
  db: Pool | Tx,
  sealer: Sealer,
  ids: readonly string[] | undefined,
): Promise<StoredEndpoint[]> {
  const { rows } = await db.query<{
    endpoint_id: EndpointId;
    integration: IntegrationName;
    sandbox: boolean;
    retired: boolean;
    holder: string | null;
    secret_no: number | null;
    sealed: Buffer | null;
    expires_at: Date | null;
  }>(
    `select e.endpoint_id, e.integration, e.sandbox, e.retired_at is not null as retired,
            s.endpoint_id as holder, s.secret_no, s.sealed, s.expires_at
       from endpoints e
       left join endpoints live on live.integration = e.integration and not live.sandbox and live.retired_at is null
       left join endpoint_secrets s
         on s.endpoint_id = case when e.sandbox then live.endpoint_id else e.endpoint_id end
        and (s.expires_at is null or s.expires_at > now())
      where case when $1::text[] is null then e.retired_at is null else e.endpoint_id = any($1) end
      order by e.endpoint_id, s.secret_no desc`,
    [ids],
  );
  const byId = new Map<
    string,
    StoredEndpoint & { secrets: { secretNo: number; secret: string; expiresAt?: EpochMs }[] }
  >();
  for (const row of rows) {
    const { endpoint_id: endpointId, integration, sandbox, retired } = row;
    const endpoint = byId.get(endpointId) ?? { endpointId, integration, sandbox, retired, secrets: [] };
    byId.set(endpointId, endpoint);
    if (row.sealed === null || row.secret_no === null || row.holder === null) continue;
    const secret = sealer.open(row.sealed, boundTo(row.holder, row.secret_no));
    if (secret === undefined) continue;
    const expires = row.expires_at && { expiresAt: row.expires_at.getTime() };
    endpoint.secrets.push({ secretNo: row.secret_no, secret, ...expires });
  }
  return [...byId.values()];
}

async function lockEndpoints(tx: Tx, integration: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('endpoints ' || $1, 0))`, [integration]);
}

async function liveEndpoint(tx: Tx, integration: string, sandbox: boolean): Promise<EndpointId | undefined> {
  const { rows } = await tx.query<{ endpoint_id: EndpointId }>(
    'select endpoint_id from endpoints where integration = $1 and sandbox = $2 and retired_at is null',
    [integration, sandbox],
  );
  return rows[0]?.endpoint_id;
}

async function addEndpoint(tx: Tx, integration: string, sandbox: boolean, mint: Minter): Promise<EndpointId> {
  const endpointId = mint.endpointId(sandbox) as EndpointId;
  await tx.query('insert into endpoints (endpoint_id, integration, sandbox) values ($1, $2, $3)', [
    endpointId,
    integration,
    sandbox,
  ]);
  return endpointId;
}

async function addSecret(
  tx: Tx,
  endpointId: string,
  secretNo: number,
  sealer: Sealer,
  secret: string,
): Promise<string> {
  await tx.query('insert into endpoint_secrets (endpoint_id, secret_no, sealed) values ($1, $2, $3)', [
    endpointId,
    secretNo,
    sealer.seal(secret, boundTo(endpointId, secretNo)),
  ]);
  return secret;
}

async function secretStates(tx: Tx, endpointId: string): Promise<SecretState[]> {
  const { rows } = await tx.query<{ secret_no: number; issued_at: Date; expires_at: Date | null }>(
    `select secret_no, issued_at, expires_at from endpoint_secrets
      where endpoint_id = $1 and (expires_at is null or expires_at > now()) order by secret_no desc`,
    [endpointId],
  );
  return rows.map((row) => ({
    secretNo: row.secret_no,
    issuedAt: row.issued_at.getTime(),
    ...(row.expires_at && { expiresAt: row.expires_at.getTime() }),
  }));
}
