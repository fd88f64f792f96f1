import { createHash } from 'node:crypto';
import type { Brand } from '../../brand/brand.ts';
import { jsonbText, storedText } from '../../kit/json.ts';
import type { Step } from '../../reconcile/accidents/signs.ts';
import { rowsTable } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

const letters = rowsTable(4, {
  text: ['kind', 'fingerprint', 'type', 'id', 'code', 'message', 'detail', 'raw', 'cause', 'cause_id'],
});

/** Stores records that could not become canonical. A record that fails at every poll is one dead letter with a counter and the newest payload. */
export async function insertDeadLetters(tx: Tx, target: Brand, steps: readonly Step[]): Promise<void> {
  const distinct = new Map(
    steps.flatMap(({ statement: { arrival }, decision }) => {
      if (decision.kind !== 'dead') return [];
      const { deadLetter: letter } = decision;
      const raw = jsonbText(JSON.stringify(letter.raw));
      const fingerprint =
        letter.kind === 'event' ? arrival.causeId : (letter.id ?? createHash('sha256').update(raw).digest('hex'));
      const { kind, type, id, code } = letter;
      const row = {
        kind,
        fingerprint,
        type,
        id,
        code,
        raw,
        cause: arrival.cause,
        cause_id: arrival.causeId,
        message: storedText(letter.message),
        detail: jsonbText(JSON.stringify(letter.detail)),
      };
      return [[`${kind} ${fingerprint}`, row] as const];
    }),
  );
  if (distinct.size === 0) return;
  await tx.query(
    `insert into dead_letters as d (integration, kind, fingerprint, type, id, code, message, detail, raw, cause, cause_id,
                                    connector_version, integration_version)
     select $1, kind, fingerprint, type, id, code, message, detail::jsonb, raw::jsonb, cause, cause_id, $2, $3
       from ${letters.sql}
         on conflict (integration, kind, fingerprint) where state = 'open' do update
        set times = d.times + 1, last_at = now(), code = excluded.code, message = excluded.message,
            detail = excluded.detail, raw = excluded.raw, cause = excluded.cause, cause_id = excluded.cause_id,
            connector_version = excluded.connector_version, integration_version = excluded.integration_version`,
    [target.integration, target.connectorVersion, target.integrationVersion, ...letters.values([...distinct.values()])],
  );
}
