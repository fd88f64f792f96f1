import type { z } from 'zod';
import type { Json } from '../../terms.ts';
import type { ValueField } from '../canonical/fields.ts';
import type { flatSchema, mapSchema, shapeSchema } from '../documents/connector-mapping.ts';
import type {
  conditionSchema,
  fieldFormSchema,
  fieldSchema,
  joinSchema,
  listFormSchema,
  listSource,
  lookupSchema,
  numberFormat,
  operatorsSchema,
  scalar,
} from '../documents/mapping-field.ts';

/** The types of the mapping language, as the schema of the documents parses it. The schema says what each key means. */

export type Scalar = z.infer<typeof scalar>;
export type NumberFormat = z.infer<typeof numberFormat>;
export type NamePart = 'first' | 'last';

/** How one field is read: a path, `false` for "not mapped", or one source with modifiers. */
export type FieldMap = z.infer<typeof fieldSchema>;
export type FieldForm = z.infer<typeof fieldFormSchema>;
/** The values of one or more lists; a text is short for `{ from: text }`. */
export type ListSource = z.infer<typeof listSource>;
export type ListForm = z.infer<typeof listFormSchema>;
export type LookupForm = z.infer<typeof lookupSchema>;
export type JoinForm = z.infer<typeof joinSchema>;

/** All paths must hold; in a list of conditions, at least one condition. */
export type Condition = z.infer<typeof conditionSchema>;
export type Conditions = Exclude<Condition, readonly unknown[]>;
export type Test = Conditions[string];
export type Operators = z.infer<typeof operatorsSchema>;

/** Canonical value to the partner's spellings of it; `*` is any spelling that is not listed. */
export type ValueMap = { readonly [canonical: string]: Scalar | readonly Scalar[] | undefined };
export type ValuesConfig = { readonly [Name in ValueField]?: ValueMap | undefined };

export type MapConfig = z.infer<typeof mapSchema>;
/** How guests, rooms or charges are built. */
export interface ListMap<Field extends string> extends Omit<ListForm, 'from' | 'value'> {
  readonly from?: ListForm['from'] | { readonly first: readonly string[] } | undefined;
  /** Rooms and charges only: the partner's own id of an item, by which it is recognised in later messages. */
  readonly id?: KeyMap | false | undefined;
  readonly fields?: { readonly [Name in Field]?: FieldMap | undefined } | undefined;
  /** Guests only. */
  readonly extra?: { readonly [name: string]: FieldMap } | undefined;
}

/** What the rows or items of one thing share: a path, several paths, or a field with any source. */
export type KeyMap = FlatConfig['key'];
export type FlatConfig = z.infer<typeof flatSchema>;
export type ShapeSection = z.infer<typeof shapeSchema>;

export interface ShapeConfig {
  readonly shape?: ShapeSection | undefined;
  readonly map?: MapConfig | undefined;
  /** Spellings of the workspace, for what `values` does not list. */
  readonly spellings?: ValuesConfig | undefined;
  readonly values?: ValuesConfig | undefined;
  /** What acknowledges a row, if it is not the id. */
  readonly receipt?: KeyMap | undefined;
  /** IANA name; instants become dates of this zone. */
  readonly timezone: string;
  readonly unknownStatus: 'dead_letter' | 'other';
}

/** A mistake in a mapping: its path in the document, and the offset inside the text there. */
export interface MappingProblem {
  readonly path: string;
  readonly message: string;
  readonly offset?: number;
}

/** One reservation as the partner sent it. For flat rows `value` is the list of its rows. */
export interface RawRecord {
  /** The partner's id, or the text of the flat key; empty if the record has neither. */
  readonly key: string;
  readonly value: Json;
  /** The record's index or key in its list; only if the mapping reads it. */
  readonly place?: string | number;
  /** The objects that enclose the record in the response, nearest first; only if the mapping reads $parent. */
  readonly around?: readonly Json[];
  /** The index or key of each object in `around`; only if the mapping reads $parent.$key. */
  readonly places?: readonly (string | number)[];
  /** The whole response; only if the mapping reads $body. */
  readonly body?: Json;
  /** From a further list whose rows may lack dates or status (`shape.also` with `partial`). */
  readonly partial?: true;
}
