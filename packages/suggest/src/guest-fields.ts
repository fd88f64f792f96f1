import type { Json, JsonObject } from '../../../src/terms.ts';
import type { FieldLine } from './field.ts';
import { type Leaf, present } from './leaf.ts';
import type { Match } from './match.ts';
import { guessDocument } from './vocabulary.ts';

/** Fields of a guest that are derived from several leaves. */

/** First and last name from a full name. */
export function fromFullName(full: Match, matches: ReadonlyMap<string, Match>, fields: JsonObject): FieldLine[] {
  const { leaf, confidence } = full;
  const line = (field: string, reason: string) => ({
    field: `guests.${field}`,
    path: leaf.path,
    confidence: Math.round(confidence * 95) / 100,
    reason,
  });
  return (['first_name', 'last_name'] as const).flatMap((field) => {
    const match = matches.get(field);
    const needed =
      match === undefined ||
      match.leaf.values.some((value, index) => value === undefined && leaf.values[index] !== undefined);
    if (!needed) return [];
    const part = { path: leaf.path, name: field === 'first_name' ? 'first' : 'last' };
    fields[field] = match === undefined ? part : { first: [fields[field] as Json, part] };
    return match === undefined ? [line(field, 'taken out of the full name')] : [];
  });
}

/** The document type from the path of its number: passport.number is a passport. */
export function documentKind(matches: ReadonlyMap<string, Match>, fields: JsonObject): void {
  const number = matches.get('document_number');
  if (number === undefined || matches.has('document_type')) return;
  const kinds = [number.leaf, ...number.others].flatMap((leaf) => {
    const named = leaf.own.filter((word) => word !== 'number' && word !== 'no').join('');
    const kind =
      guessDocument(leaf.around.slice(-2).join('')) ?? guessDocument(leaf.around.at(-1) ?? '') ?? guessDocument(named);
    return kind === undefined ? [] : [{ const: kind, when: { [leaf.path]: { exists: true } } }];
  });
  if (kinds.length > 0) fields.document_type = { first: kinds };
}

/** Consent from a list of options that mentions marketing. */
export function consentOf(leaves: readonly Leaf[], matches: ReadonlyMap<string, Match>): JsonObject {
  if (matches.has('marketing_consent')) return {};
  for (const leaf of leaves) {
    if (leaf.kind !== 'list') continue;
    const option = present(leaf)
      .flat()
      .find((value) => typeof value === 'string' && /marketing|newsletter/i.test(value));
    if (typeof option !== 'string') continue;
    const said = { const: true, when: { [leaf.path]: { contains: option } } };
    return { marketing_consent: { first: [said, { const: false, when: { [leaf.path]: { exists: true } } }] } };
  }
  return {};
}
