import type { GuestField } from '../canonical/fields.ts';
import type { Json, Note, Origins } from '../terms.ts';
import type { RawRecord } from './config.ts';
import type { Built, DraftRecord, ItemIds } from './draft.ts';
import type { Item } from './items.ts';
import type { Misshapen } from './rows.ts';
import type { Drift } from './scope.ts';

/** One mapped record: canonical keys, unchecked values. */
export type Draft = Built<DraftRecord>;

/** Corrects an event's payload by the type of the event, before the check. */
export type Adjust = (record: DraftRecord) => { readonly record: DraftRecord; readonly notes: readonly Note[] };

export interface GuestEventDraft {
  readonly record: Item<GuestField>;
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  /** The guest's fields that were sent. */
  readonly present: ReadonlySet<string>;
  readonly guestId: string | undefined;
  readonly reservationId: string | undefined;
  /** Fields whose wrong value makes the event a dead letter. */
  readonly strict: ReadonlySet<string>;
}

export interface Shaper {
  /** Every reservation of a response; flat rows are grouped within it. */
  records(body: Json): { readonly kind: 'ok'; readonly records: RawRecord[]; readonly total?: number } | Misshapen;
  /** The rows of the response, ungrouped; empty if there is no list. */
  rows(body: Json): Json[];
  /** How many rows the partner's paging counts in this response. */
  count(body: Json): number;
  /** Groups rows that were collected over pages and windows. */
  group(rows: readonly Json[]): RawRecord[];
  /** The group key of a row; empty if it has none. */
  rowKey(row: Json): string;
  /** The one reservation of a response, or of an event's data. */
  single(body: Json): { readonly kind: 'ok'; readonly record: RawRecord } | Misshapen;
  draft(raw: RawRecord): Draft;
  /** The partner's own ids of the draft's rooms and charges. */
  itemIds(raw: RawRecord): ItemIds;
  /** Canonical path to the raw path or paths of its value. */
  origins(raw: RawRecord): Origins;
  /** Raw paths of the record that the mapping never read. */
  unmapped(raw: RawRecord): string[];
  /** The paths of the mapping that found nothing in any of these records. */
  unmatched(records: readonly RawRecord[]): { readonly at: string; readonly text: string }[];
  /** The record with only those parts of the response that its mapping reads: the form to store. */
  selfContained(raw: RawRecord): RawRecord;
  /** The places outside the record that its mapping looks at. */
  outside(raw: RawRecord): ReadonlySet<string>;
  /** The guest of a guest.updated event: the fields in its data, or in data.guest. */
  guestDraft(data: Json): GuestEventDraft;
  readonly flat: boolean;
  /**
   * Rows of one reservation have their own dates, so a list may show only some of them: a group with fewer rooms than before may be
   * cut off at the edge of a window.
   */
  readonly mayCutGroups: boolean;
}
