import { type RecordState, viewsText } from '../../reconcile/record-state.ts';
import type { EntityType, IntegrationName } from '../../terms.ts';
import { float8s, int8s, texts } from '../db/columns.ts';
import type { Tx } from '../db/pool.ts';

/** Writes new statements for records whose content did not change. */
export async function moveViews(
  tx: Tx,
  integration: IntegrationName,
  type: EntityType,
  moved: ReadonlyMap<string, RecordState>,
): Promise<void> {
  const states = [...moved.values()];
  await tx.query({
    name: 'move-views',
    text: `update records r
              set effective_at = to_timestamp(t.ms / 1000.0), seq = t.seq, views = t.views::json
             from unnest($3::text[], $4::float8[], $5::bigint[], $6::text[]) as t (id, ms, seq, views)
            where r.integration = $1 and r.type = $2 and r.id = t.id and r.id = any($3::text[])`,
    values: [
      integration,
      type,
      texts([...moved.keys()]),
      float8s(states.map(({ moment }) => moment[0])),
      int8s(states.map(({ moment }) => moment[1])),
      texts(states.map(({ views }) => viewsText(views))),
    ],
  });
}
