import type { ListName } from '../canonical/fields.ts';
import { noteOf } from '../canonical/notes.ts';
import type { Json, JsonObject } from '../terms.ts';
import type { ListPart } from './list-map.ts';
import { isBlank, type Scope } from './scope.ts';

/** The fields of one item, unchecked. */
export type Item<Field extends string> = { [Name in Field]: Json | undefined } & { extra?: JsonObject };

/** The raw value of each field. */
export function readEach<Field extends string>(reads: ListPart<Field>['reads'], scope: Scope): Item<Field> {
  const item: { [name: string]: Json | undefined } = {};
  for (const name in reads) item[name] = reads[name](scope);
  return item as Item<Field>;
}

/**
 * Builds the items of a list; undefined if the partner sent neither the list nor any field of its items. An item without any value is
 * left out with a note. `usual` is a field that nearly every item has, so that the other fields rarely need to be checked.
 */
export function itemsOf<Field extends string>(
  scope: Scope,
  name: ListName,
  parts: readonly ListPart<Field>[],
  usual: NoInfer<Field>,
): Item<Field>[] | undefined {
  const { root } = scope;
  let out: Item<Field>[] = [];
  let kept = 0;
  let seen: Set<string> | undefined;
  let isSent = false;
  for (const part of parts) {
    const before = root.notes.length;
    const items = part.items(scope);
    // With a note, the list had items, and none of them found its row: that is not an empty list.
    if (items.length === 0 && root.notes.length === before) isSent ||= part.isSent(scope);
    if (kept === 0) out = new Array(items.length);
    for (const item of items) {
      root.index = kept;
      const made = withExtra(part, item);
      // Read here too, so that it does not count as unmapped.
      if (root.trace !== undefined) part.id?.(item);
      if (isBlank(made[usual]) && isEmpty(made)) {
        isSent ||= Object.values(made).some((value) => value !== undefined);
        if (item.item !== null) root.notes.push(noteOf('empty_item', name));
        continue;
      }
      if (part.byContent) {
        const content = JSON.stringify(made);
        seen ??= new Set();
        if (seen.has(content)) continue;
        seen.add(content);
      }
      out[kept++] = made;
    }
  }
  if (kept < out.length) out.length = kept;
  return kept > 0 || isSent ? out : undefined;
}

/** The partner's ids of a list's items, in the order of `itemsOf`; an id that several items share identifies none of them. */
export function itemIdsOf<Field extends string>(
  scope: Scope,
  parts: readonly ListPart<Field>[],
): (string | undefined)[] | undefined {
  if (parts.every(({ id }) => id === undefined)) return undefined;
  const ids: (string | undefined)[] = [];
  const seen = new Set<string>();
  const shared = new Set<string>();
  const contents = new Set<string>();
  for (const part of parts) {
    for (const item of part.items(scope)) {
      const made = readEach(part.reads, item);
      if (isEmpty(made)) continue;
      const content = part.byContent ? JSON.stringify(made) : undefined;
      if (content !== undefined && contents.has(content)) continue;
      if (content !== undefined) contents.add(content);
      const id = part.id?.(item);
      ids.push(id);
      if (id === undefined) continue;
      if (seen.has(id)) shared.add(id);
      seen.add(id);
    }
  }
  if (seen.size === shared.size) return undefined;
  return ids.map((id) => (id === undefined || shared.has(id) ? undefined : id));
}

export function withExtra<Field extends string>(part: ListPart<Field>, scope: Scope): Item<Field> {
  const item = readEach(part.reads, scope);
  const extra = part.extra?.(scope);
  if (extra !== undefined) item.extra = extra;
  return item;
}

function isEmpty(item: { readonly [field: string]: Json | undefined }): boolean {
  return Object.values(item).every(isBlank);
}
