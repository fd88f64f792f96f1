import type { Json } from '../../terms.ts';
import type { Draft } from '../shape/draft.ts';
import { keyText } from '../shape/scope.ts';

/** The partner's id with the prefix of the brand; nothing precedes a missing one. */
export const idOf = (id: string, prefix: string | undefined): string =>
  prefix === undefined || id === '' ? id : prefix + id;

const withPrefix = (id: Json | undefined, prefix: string): Json | undefined => {
  const text = keyText(id)?.trim();
  return text ? prefix + text : id;
};

/** A draft whose reservation and guests have the prefix of the brand, so that they are not taken for those of the system before. */
export function prefixed(draft: Draft, prefix: string | undefined): Draft {
  if (prefix === undefined) return draft;
  const { record } = draft;
  const guests = record.guests?.map((guest) => {
    const { guest_id: id } = guest as { readonly guest_id?: Json };
    return id === undefined ? guest : { ...(guest as object), guest_id: withPrefix(id, prefix) as Json };
  });
  return { ...draft, record: { ...record, id: withPrefix(record.id, prefix), guests } };
}
