import { createHash } from 'node:crypto';
import type { Brand } from '../../brand/brand.ts';
import { jsonbText, storedText } from '../../kit/json.ts';
import type { Step } from '../../reconcile/accidents/signs.ts';
import type { Tx } from '../db/pool.ts';

/** Stores records that could not become canonical. A record that fails at every poll is one dead letter with a counter and the newest payload. */
export async function insertDeadLetters(tx: Tx, target: Brand, steps: readonly Step[]): Promise<void> {
  const distinct = new Map(
    steps.flatMap(({ statement: { arrival }, decision }) => {
      if (decision.kind !== 'dead') return [];
      const { deadLetter: letter } = decision;
      const raw = jsonbText(JSON.stringify(letter.raw));
      const fingerprint =
        letter.kind === 'event' ? arrival.causeId : (letter.id ?? createHash('sha256').update(raw).digest('hex'));
      return [[`${letter.kind} ${fingerprint}`, { letter, arrival, raw, fingerprint }] as const];
    }),
  );
  if (distinct.size === 0) return;
  const rows = [...distinct.values()];
  await tx.query(
    `insert into dead_letters as d (integration, kind, fingerprint, type, id, code, message, detail, raw, cause, cause_id,
                                    connector_version, integration_version)
     select $1, kind, fingerprint, type, id, code, message, detail::jsonb, raw::jsonb, cause, cause_id, $2, $3
       from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
                   $12::text[], $13::text[])
         as t (kind, fingerprint, type, id, code, message, detail, raw, cause, cause_id)
         on conflict (integration, kind, fingerprint) where state = 'open' do update
        set times = d.times + 1, last_at = now(), code = excluded.code, message = excluded.message,
            detail = excluded.detail, raw = excluded.raw, cause = excluded.cause, cause_id = excluded.cause_id,
            connector_version = excluded.connector_version, integration_version = excluded.integration_version`,
    [
      target.integration,
      target.connectorVersion,
      target.integrationVersion,
      rows.map((row) => row.letter.kind),
      rows.map((row) => row.fingerprint),
      rows.map((row) => row.letter.type),
      rows.map((row) => row.letter.id ?? null),
      rows.map((row) => row.letter.code),
      rows.map((row) => storedText(row.letter.message)),
      rows.map((row) => jsonbText(JSON.stringify(row.letter.detail))),
      rows.map((row) => row.raw),
      rows.map((row) => row.arrival.cause),
      rows.map((row) => row.arrival.causeId),
    ],
  );
}
