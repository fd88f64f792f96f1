import type { CountryLanguage } from '../canonical/country.ts';
import type { ChargeField, GuestField, ReservationField, RoomField, ValueField } from '../canonical/fields.ts';
import type { Json, JsonObject } from '../terms.ts';

/**
 * The types of the mapping language. The schema of the documents describes the same keys; a test compares the two.
 * Optional keys accept undefined, because parsed documents contain it.
 */

export type Scalar = string | number | boolean;

/** How one field is read: a path, `false` for "not mapped", or one source with modifiers. */
export type FieldMap = string | false | FieldForm;

/** The values of one or more lists; a text is short for `{ from: text }`. */
export type ListSource = string | ListForm;

export interface ListForm {
  /** Defaults to the record itself when there is a join. */
  readonly from?: string | readonly string[] | undefined;
  readonly join?: JoinForm | readonly JoinForm[] | undefined;
  readonly where?: Condition | undefined;
  readonly unique?: string | readonly string[] | undefined;
  readonly value?: FieldMap | undefined;
}

export interface LookupForm {
  readonly in: string;
  readonly by: FieldMap;
  readonly key?: string | undefined;
  readonly value?: FieldMap | undefined;
}

export interface FieldForm extends Sources, Modifiers {}

interface Sources {
  readonly path?: string | undefined;
  readonly const?: Scalar | undefined;
  readonly first?: readonly FieldMap[] | undefined;
  readonly join?: readonly FieldMap[] | undefined;
  readonly sum?: ListSource | readonly FieldMap[] | undefined;
  readonly product?: readonly FieldMap[] | undefined;
  readonly min?: ListSource | undefined;
  readonly max?: ListSource | undefined;
  readonly count?: ListSource | undefined;
  readonly pick?: ListForm | undefined;
  readonly lookup?: LookupForm | undefined;
}

interface Modifiers {
  readonly when?: Condition | undefined;
  readonly with?: string | undefined;
  readonly empty?: readonly (Scalar | Json[] | JsonObject)[] | undefined;
  readonly split?: { readonly on: string; readonly part: number } | undefined;
  readonly name?:
    | NamePart
    | { readonly part: NamePart; readonly order?: 'first_last' | 'last_first' | undefined }
    | undefined;
  readonly values?: ValueMap | undefined;
  readonly number?: NumberFormat | undefined;
  readonly minor_units?: number | 'currency' | undefined;
  readonly negate?: boolean | undefined;
  readonly date?: string | readonly string[] | undefined;
  readonly add_days?: number | FieldMap | undefined;
  readonly country?: CountryLanguage | readonly CountryLanguage[] | undefined;
  readonly default?: Scalar | undefined;
  readonly if_invalid?: 'drop' | 'dead_letter' | undefined;
}

export type NamePart = 'first' | 'last';
export type NumberFormat = 'point' | 'comma';

/** All paths must hold; in a list of conditions, at least one condition. */
export type Condition = Conditions | readonly Conditions[];
export type Conditions = { readonly [path: string]: Test };
export type Test = Scalar | null | readonly (Scalar | null)[] | Operators;

export interface Operators {
  readonly is?: Scalar | readonly Scalar[] | undefined;
  readonly not?: Scalar | readonly Scalar[] | undefined;
  readonly exists?: boolean | undefined;
  readonly same_as?: string | undefined;
  readonly not_same_as?: string | undefined;
  readonly at_least?: number | string | undefined;
  readonly at_most?: number | string | undefined;
  readonly starts_with?: string | undefined;
  readonly contains?: string | undefined;
}

/** Canonical value to the partner's spellings of it; `*` is any spelling that is not listed. */
export type ValueMap = { readonly [canonical: string]: Scalar | readonly Scalar[] | undefined };

export interface JoinForm {
  readonly in: string;
  readonly key: string | readonly string[];
  readonly by: string | readonly string[];
}

/** How guests, rooms or charges are built. */
export interface ListMap<Field extends string> {
  readonly from?: string | readonly string[] | { readonly first: readonly string[] } | undefined;
  readonly join?: JoinForm | readonly JoinForm[] | undefined;
  readonly where?: Condition | undefined;
  readonly unique?: string | readonly string[] | undefined;
  /** Rooms and charges only: the partner's own id of an item, by which it is recognised in later messages. */
  readonly id?: KeyMap | false | undefined;
  readonly fields?: { readonly [Name in Field]?: FieldMap | undefined } | undefined;
  /** Guests only. */
  readonly extra?: { readonly [name: string]: FieldMap } | undefined;
}

type OneOrMore<Of> = Of | readonly Of[];

export type MapConfig = { readonly [Name in ReservationField]?: FieldMap | undefined } & {
  readonly where?: Condition | undefined;
  readonly guests?: OneOrMore<ListMap<GuestField>> | false | undefined;
  readonly rooms?: OneOrMore<ListMap<RoomField>> | false | undefined;
  readonly charges?: OneOrMore<ListMap<ChargeField>> | false | undefined;
  readonly extra?: { readonly [name: string]: FieldMap } | undefined;
};

/** What the rows or items of one thing share: a path, several paths, or a field with any source. */
export type KeyMap = string | readonly string[] | FieldForm;

export interface FlatConfig {
  readonly key: KeyMap;
  /** Fields that each row gets before it leaves its response: name to path, such as $parent.$key. */
  readonly add?: Readonly<Record<string, string>> | undefined;
  /** The list always shows all rows of a reservation together. */
  readonly whole?: boolean | undefined;
  readonly conflict?: 'first' | 'last' | { readonly newest: string } | undefined;
  readonly guests?: { readonly key: KeyMap } | undefined;
  readonly rooms?: { readonly key: KeyMap } | undefined;
  readonly charges?: { readonly key: KeyMap } | undefined;
}

/** A further list of the same response, such as cancellations beside bookings. */
export interface FurtherList {
  readonly path: string;
  /** Fields that are set in every row of the list. */
  readonly set?: Readonly<Record<string, Scalar>> | undefined;
  /** Its rows may state only a part of a reservation, such as its id and a cancelled status. */
  readonly partial?: boolean | undefined;
}

export interface ShapeSection {
  readonly root_path?: string | undefined;
  readonly also?: readonly FurtherList[] | undefined;
  readonly single_path?: string | undefined;
  readonly total?: string | undefined;
  readonly count_path?: string | undefined;
  readonly missing_is_empty?: boolean | undefined;
  readonly object_is_one?: boolean | undefined;
  readonly flat?: FlatConfig | undefined;
  readonly dates?: string | readonly string[] | undefined;
  readonly numbers?: NumberFormat | undefined;
}

export type ValuesConfig = { readonly [Name in ValueField]?: ValueMap | undefined };

export interface ShapeConfig {
  readonly shape?: ShapeSection | undefined;
  readonly map?: MapConfig | undefined;
  /** Spellings of the workspace, for what `values` does not list. */
  readonly spellings?: ValuesConfig | undefined;
  readonly values?: ValuesConfig | undefined;
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
