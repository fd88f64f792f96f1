import type pg from 'pg';
import { reservationWithoutMentions } from '../../../canonical/mentions.ts';
import type { Delivery } from '../../message.ts';
import { versionTexts as texts } from './tables.ts';

type Version = { readonly rooms: object[] | null; readonly [column: string]: unknown };

/** Earlier versions of a reservation hold no guests, but a text in them may name one. */
export async function eraseFromVersions(
  client: pg.PoolClient,
  schema: string,
  erasures: readonly Delivery[],
): Promise<void> {
  for (const { message, erased = [] } of erasures) {
    const key = [message.integration, message.data.id];
    const { rows } = await client.query<Version>(
      `select epoch, version, rooms, ${texts.join(', ')} from ${schema}.reservation_versions where integration = $1 and id = $2`,
      key,
    );
    for (const row of rows) {
      const kept = reservationWithoutMentions(row, erased);
      if (kept === row) continue;
      await client.query(
        `update ${schema}.reservation_versions set rooms = $5, ${texts.map((text, i) => `${text} = $${i + 6}`).join(', ')}
          where integration = $1 and id = $2 and epoch = $3 and version = $4`,
        [
          ...key,
          row.epoch,
          row.version,
          kept.rooms && JSON.stringify(kept.rooms),
          ...texts.map((text) => kept[text] ?? null),
        ],
      );
    }
  }
}
