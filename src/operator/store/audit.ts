import { type Pool, rowsOf, type Tx, type UnreadRow } from '../../core/store/db/pool.ts';
import type { Json } from '../../terms.ts';

export interface NewAudit {
  readonly actor: string;
  readonly tokenId?: string | undefined;
  readonly action: string;
  readonly integration?: string | undefined;
  readonly target?: { readonly [key: string]: Json };
  readonly status?: number;
  readonly requestId?: string;
  readonly address?: string;
}

export async function writeAudit(db: Pool | Tx, entry: NewAudit): Promise<void> {
  await db.query(
    `insert into audit (actor, token_id, action, integration, target, status, request_id, address)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      entry.actor,
      entry.tokenId,
      entry.action,
      entry.integration,
      JSON.stringify(entry.target ?? {}),
      entry.status,
      entry.requestId,
      entry.address,
    ],
  );
}

interface AuditFilter {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly integration?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Newest first. */
export const listAudit = (db: Pool, filter: AuditFilter): Promise<(UnreadRow & { audit_id: number })[]> =>
  rowsOf(db)(
    `select audit_id, at, actor, token_id, action, integration, target, status, request_id, address from audit
      where ($1::text is null or action = $1) and ($2::text is null or actor = $2)
        and ($3::text is null or integration = $3) and ($4::bigint is null or audit_id < $4)
      order by audit_id desc limit $5`,
    [filter.action, filter.actor, filter.integration, filter.before, filter.limit],
  );
