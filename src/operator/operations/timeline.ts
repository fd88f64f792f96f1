import { noteOf, type PackedNote, unpackedNote } from '../../core/canonical/notes.ts';
import type { Shaper } from '../../core/shape/shape.ts';
import type { Pool } from '../../core/store/db/pool.ts';
import { type Sent, shownOf } from '../../core/store/records/entry-payload.ts';
import {
  readTimeline,
  type Timeline,
  type TimelineEntry,
  type TimelinePart,
} from '../../core/store/records/timeline.ts';
import { type EntityType, isObject, type Json, type Note, type Origins } from '../../terms.ts';
import { replacedCard } from '../privacy/cards.ts';
import { recordedPath } from './recorded-documents.ts';

/**
 * The timeline of a record. Origins of fields are stored only if the raw record alone does not determine them; otherwise they are derived
 * here from the raw record and the documents of that version. Deriving them at each change took 35 µs and storing them 34 µs of the
 * database (`npm run bench -- pull`, two x64 cores), for data that is rarely read.
 */
export async function timelineOf(
  pool: Pool,
  integration: string,
  type: EntityType,
  id: string,
  part?: TimelinePart,
): Promise<Timeline | undefined> {
  const story = await readTimeline(pool, integration, type, id, part);
  if (story === undefined) return undefined;
  const paths = new Map<string, ReturnType<typeof recordedPath>>();
  const pathAt = (integrationVersion: number, connectorVersion: number) =>
    paths.getOrInsertComputed(`${integrationVersion} ${connectorVersion}`, () =>
      recordedPath(pool, integration, integrationVersion, connectorVersion),
    );
  const timeline: TimelineEntry[] = [];
  for (const { mode, sent, notes: packed, ...entry } of story.timeline as ArrivedEntry[]) {
    const { origins, diff, integration_version: version, connector_version: connectorVersion } = entry;
    const isChange = mode !== undefined && diff !== undefined && type === 'reservation';
    const isRetraced = isChange && sent !== undefined && origins === undefined;
    const path = isRetraced && version && connectorVersion ? await pathAt(version, connectorVersion) : undefined;
    const shaper = path?.shapers[mode ?? 'pull'];
    const raw = shownOf(sent);
    const notes = [...(packed ?? []).map(unpackedNote), ...removedCards(raw)];
    timeline.push({
      ...entry,
      ...(raw !== null && { raw }),
      ...(shaper && sent && { origins: originsIn(shaper, sent) }),
      ...((packed !== undefined || notes.length > 0) && { notes }),
    });
  }
  return { ...story, timeline };
}

type ArrivedEntry = TimelineEntry & {
  readonly mode?: 'pull' | 'single' | 'push';
  readonly sent?: Sent;
  readonly origins?: Json;
  readonly notes?: readonly PackedNote[];
  readonly integration_version?: number;
  readonly connector_version?: number;
};

function originsIn(shaper: Shaper, sent: Sent): Origins {
  if (sent.kind === 'record') return shaper.origins(sent.raw);
  const rows = shaper.single(shownOf(sent));
  return rows.kind === 'ok' ? shaper.origins(rows.record) : {};
}

/**
 * The card data that intake replaced, by its path in the payload. Searched for on reading, so that intake has no extra work; it
 * disappears together with the payload.
 */
function removedCards(raw: Json): Note[] {
  const notes: Note[] = [];
  const look = (value: Json, path: string): void => {
    if (notes.length >= 20) return;
    if (typeof value === 'string') {
      if (!replacedCard.test(value)) return;
      notes.push(noteOf('card_removed', path));
    } else if (Array.isArray(value)) {
      for (const [i, inner] of value.entries()) look(inner, `${path}[${i}]`);
    } else if (isObject(value)) {
      for (const [key, inner] of Object.entries(value)) look(inner, path === '' ? key : `${path}.${key}`);
    }
  };
  look(raw, '');
  return notes;
}
