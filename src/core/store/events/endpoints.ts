import type { EndpointId, EpochMs, IntegrationName } from '../../../terms.ts';
import type { LoadedEndpoint } from '../../intake/push/intake.ts';
import { cellOf, numberOf, type Pool, rowOf, rowsOf, type Tx, type UnreadRow } from '../db/pool.ts';

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
  if (live !== undefined) return { endpointId: live, sandboxId };
  const endpointId = await addEndpoint(tx, integration, false, mint);
  const secret = mint.secret();
  await addSecret(tx, endpointId, 1, sealer, secret);
  return { endpointId, sandboxId, secret };
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
  const last = await numberOf(tx)('select coalesce(max(secret_no), 0) from endpoint_secrets where endpoint_id = $1', [
    endpointId,
  ]);
  await addSecret(tx, endpointId, last + 1, sealer, secret);
  return { endpointId, sandboxId, secret };
}

/** After this commits no node accepts an event for it, because the insert of events checks. */
export async function retireEndpoint(tx: Tx, integration: string): Promise<EndpointId | undefined> {
  await lockEndpoints(tx, integration);
  const retired = await rowsOf(tx)<{ endpoint_id: EndpointId; sandbox: boolean }>(
    `update endpoints set retired_at = clock_timestamp()
      where integration = $1 and retired_at is null returning endpoint_id, sandbox`,
    [integration],
  );
  return retired.find((row) => !row.sandbox)?.endpoint_id;
}

/** The given endpoints, or all that are not retired. A sandbox endpoint has the secrets of the integration's live one. */
export async function loadEndpoints(
  db: Pool | Tx,
  sealer: Sealer,
  ids: readonly string[] | undefined,
): Promise<LoadedEndpoint[]> {
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
    LoadedEndpoint & { secrets: { secretNo: number; secret: string; expiresAt?: EpochMs }[] }
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

const liveEndpoint = (tx: Tx, integration: string, sandbox: boolean): Promise<EndpointId | undefined> =>
  cellOf(tx)('select endpoint_id from endpoints where integration = $1 and sandbox = $2 and retired_at is null', [
    integration,
    sandbox,
  ]);

async function addEndpoint(tx: Tx, integration: string, sandbox: boolean, mint: Minter): Promise<EndpointId> {
  const endpointId = mint.endpointId(sandbox) as EndpointId;
  await tx.query('insert into endpoints (endpoint_id, integration, sandbox) values ($1, $2, $3)', [
    endpointId,
    integration,
    sandbox,
  ]);
  return endpointId;
}

async function addSecret(tx: Tx, endpointId: string, secretNo: number, sealer: Sealer, secret: string): Promise<void> {
  await tx.query('insert into endpoint_secrets (endpoint_id, secret_no, sealed) values ($1, $2, $3)', [
    endpointId,
    secretNo,
    sealer.seal(secret, boundTo(endpointId, secretNo)),
  ]);
}

type EndpointStatus = UnreadRow & { readonly endpoint_id: string; readonly sandbox_id: string | null };

/** The live endpoint of an integration and the state of its active secrets, never the secrets. */
export const endpointStatus = (db: Pool, integration: string): Promise<EndpointStatus | undefined> =>
  rowOf(db)(
    `select e.endpoint_id, s.endpoint_id as sandbox_id, e.issued_at,
            coalesce((select json_agg(json_build_object('secret_no', k.secret_no, 'issued_at', k.issued_at, 'expires_at', k.expires_at)
                                      order by k.secret_no desc)
               from endpoint_secrets k where k.endpoint_id = e.endpoint_id
                and (k.expires_at is null or k.expires_at > now())), '[]') as secrets,
            (select v.received_at from events v where v.integration = e.integration order by v.seq limit 1) as first_event_at,
            (select v.received_at from events v where v.integration = e.integration and v.event <> 'guest.feedback' order by v.seq desc limit 1) as last_event_at
       from endpoints e
       left join endpoints s on s.integration = e.integration and s.sandbox and s.retired_at is null
      where e.integration = $1 and not e.sandbox and e.retired_at is null`,
    [integration],
  );
