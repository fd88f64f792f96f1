import type { CountryLanguage } from '../canonical/country.ts';
import type { ChargeField, GuestField, ReservationField, RoomField } from '../canonical/fields.ts';
import type { Json } from '../terms.ts';

/**
 * The mapping language, as data. The documents' schema describes the same keys to people; a test holds the two together.
 * Optional keys take undefined, since that is what a parsed document gives.
 */

export type Scalar = string | number | boolean;

/** One value of one field: a path, `false` for "not taken", or one source with modifiers. */
export type FieldMap = string | false | FieldForm;

/** The values of a list, or of several; a text is `{ from: text }`. */
export type ListSource = string | ListForm;

export interface ListForm {
  /** The record itself where nothing is said but a join. */
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
  readonly empty?: readonly Scalar[] | undefined;
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
  readonly if_invalid?: 'drop' | undefined;
}

export type NamePart = 'first' | 'last';
export type NumberFormat = 'point' | 'comma';

/** Every path must hold; of a list of conditions, one. */
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

/** How one of the lists guests, rooms and charges is made. */
export interface ListMap<Field extends string> {
  readonly from?: string | readonly string[] | { readonly first: readonly string[] } | undefined;
  readonly join?: JoinForm | readonly JoinForm[] | undefined;
  readonly where?: Condition | undefined;
  readonly unique?: string | readonly string[] | undefined;
  readonly fields?: { readonly [Name in Field]?: FieldMap | undefined } | undefined;
}

type OneOrMore<Of> = Of | readonly Of[];

export type MapConfig = { readonly [Name in ReservationField]?: FieldMap | undefined } & {
  readonly guests?: OneOrMore<ListMap<GuestField>> | false | undefined;
  readonly rooms?: OneOrMore<ListMap<RoomField>> | false | undefined;
  readonly charges?: OneOrMore<ListMap<ChargeField>> | false | undefined;
  readonly extra?: { readonly [name: string]: FieldMap } | undefined;
};

export interface FlatConfig {
  readonly key: string | readonly string[];
  readonly conflict?: 'first' | 'last' | { readonly newest: string } | undefined;
  readonly guests?: { readonly key: string | readonly string[] } | undefined;
  readonly rooms?: { readonly key: string | readonly string[] } | undefined;
  readonly charges?: { readonly key: string | readonly string[] } | undefined;
}

export interface ShapeSection {
  readonly root_path?: string | undefined;
  readonly single_path?: string | undefined;
  readonly total?: string | undefined;
  readonly count_path?: string | undefined;
  readonly missing_is_empty?: boolean | undefined;
  readonly object_is_one?: boolean | undefined;
  readonly flat?: FlatConfig | undefined;
  readonly dates?: string | readonly string[] | undefined;
  readonly numbers?: NumberFormat | undefined;
}

export const valueFields = [
  'status',
  'channel',
  'source',
  'currency',
  'board',
  'room_type',
  'rate_code',
  'document_type',
  'nationality',
  'marketing_consent',
] as const;
type ValueField = (typeof valueFields)[number];
export type ValuesConfig = { readonly [Name in ValueField]?: ValueMap | undefined };

export interface ShapeConfig {
  readonly shape?: ShapeSection | undefined;
  readonly map?: MapConfig | undefined;
  readonly values?: ValuesConfig | undefined;
  /** IANA name; instants become dates of this zone. */
  readonly timezone: string;
  readonly unknownStatus: 'dead_letter' | 'other';
}

/** A mistake in a mapping: where in the document, and where inside the text that stands there. */
export interface MappingProblem {
  readonly path: string;
  readonly message: string;
  readonly offset?: number;
}

/** One reservation as the partner sent it. For flat rows `value` is the list of its rows. */
export interface RawRecord {
  /** The partner's id, or the text of the flat key; empty where the record has none. */
  readonly key: string;
  readonly value: Json;
  /** The record's position or name in its list; only where the mapping reads it. */
  readonly place?: string | number;
  /** The objects around the record inside the response, nearest first; only where root_path goes through lists. */
  readonly around?: readonly Json[];
  /** The whole response; only where the mapping looks into it. */
  readonly body?: Json;
}
