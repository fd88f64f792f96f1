import type { Json } from '../../terms.ts';

/**
 * The canonical fields, one entry each, in the order of the record. Everything that knows the fields is made from this table: the
 * record's type and schema, mapping, check, rules, warehouse columns, Parquet files, API, documentation and the console's forms.
 * docs/contribute/extend.md, "Add a canonical field", says what to run after a change and what is chosen by hand.
 */

/** What a value of each kind is in a warehouse, in a Parquet file and in a rule, and how a mapping describes it. */
export const kinds = {
  text: { sql: 'text', parquet: 'text', rule: 'text', about: 'Text.' },
  /** Cleaned by normalization, so that its note can show what was sent. */
  verbatim: { sql: 'text', parquet: 'text', rule: 'text', about: 'Text, cleaned by normalization.' },
  date: { sql: 'date', parquet: 'date', rule: 'text', about: 'A date in the property’s time zone.' },
  /** Never converted between time zones. */
  birth_date: { sql: 'date', parquet: 'date', rule: 'text', about: 'A date, as written.' },
  decimal: { sql: 'numeric', parquet: 'decimal', rule: 'decimal', about: 'An exact decimal number.' },
  count: { sql: 'integer', parquet: 'int', rule: 'integer', about: 'A whole number, not negative.' },
  integer: { sql: 'integer', parquet: 'int', rule: 'integer', about: 'A whole number.' },
  boolean: {
    sql: 'boolean',
    parquet: 'bool',
    rule: 'flag',
    about: 'True or false; yes, no, y, n, 1 and 0 are understood.',
  },
  /** True or absent. */
  flag: { sql: 'boolean', parquet: 'bool', rule: 'flag', about: 'True.' },
  country: {
    sql: 'text',
    parquet: 'text',
    rule: 'text',
    about: 'A country of ISO 3166: two letters, three letters or its English name.',
  },
  currency: { sql: 'text', parquet: 'text', rule: 'text', about: 'A currency of ISO 4217.' },
  status: {
    sql: 'text',
    parquet: 'text',
    rule: 'text',
    about: 'The status, by values.status and the spellings understood unlisted.',
  },
  /** An object with names that the connector chooses. */
  json: { sql: 'jsonb', parquet: 'json', rule: 'text', about: 'Any JSON.' },
} as const;
export type FieldKind = keyof typeof kinds;

export interface Field {
  readonly kind: FieldKind;
  readonly about: string;
  readonly example: Json;
  /** A reservation without it is a dead letter. */
  readonly required?: true;
  /** Set by a later step: a mapping cannot name it. */
  readonly derived?: true;
  /** Viewers see it masked. */
  readonly personal?: true;
  /** A connector may translate its spellings under `values`; the text describes the key there. */
  readonly values?: string;
  /** The method of FieldCheck, if it is not the one of the kind. */
  readonly check?: 'id' | 'guestId' | 'spelling';
}

const reservation = {
  id: {
    kind: 'text',
    check: 'id',
    required: true,
    example: 'R100234',
    about: 'The partner’s id of the reservation: unique within the brand, never changes.',
  },
  confirmation_number: { kind: 'text', example: 'LIS-4820113', about: 'The number that the guest was given.' },
  check_in: {
    kind: 'date',
    required: true,
    example: '2026-06-15',
    about: 'Day of arrival, in the property’s time zone.',
  },
  check_out: { kind: 'date', required: true, example: '2026-06-18', about: 'Day of departure; not before `check_in`.' },
  booking_date: { kind: 'date', example: '2026-03-02', about: 'Day on which the booking was made.' },
  status: {
    kind: 'status',
    required: true,
    values: 'The five statuses, and `other` for all remaining ones. Case and separators do not matter in words.',
    example: 'confirmed',
    about: 'The state of the stay.',
  },
  status_raw: {
    kind: 'text',
    check: 'spelling',
    derived: true,
    example: 'WAITLIST',
    about: 'The partner’s spelling, if no value map lists it.',
  },
  cancelled_at: {
    kind: 'date',
    example: '2026-05-02',
    about: 'Day of the cancellation, in the property’s time zone, if the partner says it.',
  },
  channel: {
    kind: 'text',
    values: 'Channels: canonical value to spellings; `*` is any other spelling.',
    example: 'BDC',
    about: 'The system that the booking came through, usually as a code.',
  },
  source: {
    kind: 'text',
    values: 'Sources.',
    example: 'online travel agency',
    about: 'Where the business comes from, in the hotel’s own words.',
  },
  segment: {
    kind: 'text',
    values: 'Market segments.',
    example: 'leisure',
    about: 'The market segment, in the hotel’s own words or code.',
  },
  total_amount: { kind: 'decimal', example: '512.4', about: 'What the whole stay costs.' },
  currency: {
    kind: 'currency',
    values: 'Currencies, if the partner writes signs or names.',
    example: 'EUR',
    about: 'ISO 4217; for `total_amount` and all charges.',
  },
  extra: {
    kind: 'json',
    example: { market_segment: 'LEISURE' },
    about: 'Further fields of the partner, under names that the connector chooses.',
  },
} as const satisfies Record<string, Field>;

const guests = {
  guest_id: {
    kind: 'text',
    check: 'guestId',
    // Some systems use the e-mail address.
    personal: true,
    example: 'G-5512',
    about: 'The partner’s own id of the guest, if it has one. A placeholder such as 0 is left out.',
  },
  title: {
    kind: 'text',
    derived: true,
    personal: true,
    example: 'Senhora',
    about: 'The title that stood before a last name without given names. It tells a couple with one address apart.',
  },
  first_name: { kind: 'verbatim', personal: true, example: 'Leonor', about: 'Given names.' },
  last_name: { kind: 'verbatim', personal: true, example: 'Magalhães', about: 'Family name.' },
  email: {
    kind: 'verbatim',
    personal: true,
    example: 'leonor@mail.example',
    about: 'A valid e-mail address, trimmed and in lower case.',
  },
  email_raw: {
    kind: 'verbatim',
    derived: true,
    personal: true,
    example: 'leonor@mail',
    about: 'What the partner sent, if it is not a valid address; `email` is then absent.',
  },
  email_proxy: {
    kind: 'flag',
    derived: true,
    example: true,
    about: 'The address is an alias created by a booking site. It is never used to match guests.',
  },
  phone: { kind: 'verbatim', personal: true, example: '+351912345678', about: 'The phone number in E.164.' },
  phone_raw: {
    kind: 'verbatim',
    derived: true,
    personal: true,
    example: '12345',
    about: 'What the partner sent, if it is not a possible number; `phone` is then absent.',
  },
  date_of_birth: {
    kind: 'birth_date',
    personal: true,
    example: '1988-11-30',
    about: 'Date of birth; never converted between time zones.',
  },
  nationality: {
    kind: 'country',
    values: 'Nationalities, if the partner uses its own codes.',
    example: 'PT',
    about: 'ISO 3166-1 alpha-2. The citizenship, not the country of residence.',
  },
  document_type: {
    kind: 'text',
    values: 'Kinds of identity document.',
    example: 'PP',
    about: 'The kind of identity document, in the partner’s own short code.',
  },
  document_number: { kind: 'text', personal: true, example: 'N12345678', about: 'The number of the document.' },
  marketing_consent: {
    kind: 'boolean',
    values: 'Marketing consent.',
    example: true,
    about: 'Whether the guest agreed to marketing. Three states: true, false, and absent for unknown.',
  },
  extra: {
    kind: 'json',
    example: { loyalty_number: 'L-77120' },
    about: 'Other fields of the guest, under names that the connector chooses: a loyalty number, a tier.',
  },
} as const satisfies Record<string, Field>;

const rooms = {
  room_type: {
    kind: 'text',
    values: 'Room types.',
    example: 'Sea View',
    about: 'The room type or category, in the hotel’s own words or code.',
  },
  board: {
    kind: 'text',
    values: 'Boards, such as half_board.',
    example: 'half_board',
    about:
      'The meals included: `room_only`, `bed_and_breakfast`, `half_board`, `full_board` or `all_inclusive`; other words pass unchanged.',
  },
  rate_code: { kind: 'text', values: 'Rate codes.', example: 'BAR', about: 'The rate plan, as a code.' },
  room_kind: {
    kind: 'text',
    values: 'Kinds of room: room, pseudo, house.',
    example: 'room',
    about:
      '`room`; `pseudo`: a room that does not exist, such as a posting master; `house`: a house account or house use. Absent: a room.',
  },
  share_id: {
    kind: 'text',
    example: 'S-2201',
    about: 'The same for all reservations that share one room, which is then counted once.',
  },
  start_date: { kind: 'date', example: '2026-06-15', about: 'First day of this room’s part of the stay.' },
  end_date: { kind: 'date', example: '2026-06-18', about: 'Day of departure from this room.' },
  adults: { kind: 'count', example: 2, about: 'Adults in this room.' },
  children: { kind: 'count', example: 0, about: 'Children in this room, infants included.' },
} as const satisfies Record<string, Field>;

const charges = {
  code: { kind: 'text', example: 'ROOM', about: 'The kind of charge, in the partner’s own code.' },
  description: { kind: 'text', example: 'Sea View, 3 nights', about: 'What was charged, as text.' },
  amount: {
    kind: 'decimal',
    example: '512.4',
    about:
      'The amount of the whole line, not of one unit, in the reservation’s currency; gross if the partner has both.',
  },
  charge_kind: {
    kind: 'text',
    values: 'Kinds of charge: room, and others in your own words.',
    example: 'room',
    about: '`room` for the price of the room: the measures take room revenue from these charges.',
  },
  charge_date: { kind: 'date', example: '2026-06-15', about: 'The night or day that was charged.' },
  tax_amount: { kind: 'decimal', example: '29', about: 'The tax that `amount` contains.' },
  quantity: {
    kind: 'integer',
    example: 3,
    about: 'How many units the line covers. For information: it is already part of `amount`.',
  },
} as const satisfies Record<string, Field>;

export const fields = { reservation, guests, rooms, charges } as const;
export type Table = keyof typeof fields;
export const listNames = ['guests', 'rooms', 'charges'] as const;
export type ListName = (typeof listNames)[number];

type Mapped<Of> = {
  readonly [Name in keyof Of as Of[Name] extends { derived: true } | { kind: 'json' }
    ? never
    : Name]: Of[Name] extends {
    readonly kind: infer Kind extends FieldKind;
  }
    ? Kind
    : never;
};

/** The entries of a table in its order; `extra` comes last. */
export const entriesOf = (table: Table): readonly (readonly [string, Field])[] => Object.entries(fields[table]);

function mapped<Name extends Table>(table: Name): Mapped<(typeof fields)[Name]> {
  const entries = entriesOf(table).filter(([, { derived, kind }]) => !derived && kind !== 'json');
  return Object.fromEntries(entries.map(([name, { kind }]) => [name, kind])) as Mapped<(typeof fields)[Name]>;
}

/** The order of a record's keys, so that equal content is equal text. */
export const reservationOrder: readonly string[] = [
  ...entriesOf('reservation').flatMap(([name]) => (name === 'extra' ? [] : [name])),
  ...listNames,
  'extra',
];

/** The fields that a mapping can fill, with their kinds. */
export const reservationFields = mapped('reservation');
export const listFields = { guests: mapped('guests'), rooms: mapped('rooms'), charges: mapped('charges') } as const;

export type ReservationField = keyof typeof reservationFields;
export type GuestField = keyof (typeof listFields)['guests'];
export type RoomField = keyof (typeof listFields)['rooms'];
export type ChargeField = keyof (typeof listFields)['charges'];

/** Names of all tables whose entry passes the test. */
export const fieldNames = (isWanted: (field: Field) => unknown): ReadonlySet<string> =>
  new Set(
    (Object.keys(fields) as Table[]).flatMap((table) =>
      entriesOf(table)
        .filter(([, one]) => isWanted(one))
        .map(([name]) => name),
    ),
  );

/** A booking needs these; any other field that breaks its rule is left out with a note. */
export const requiredFields = fieldNames(({ required }) => required);

type WithValues<Of> = { [Name in keyof Of]: Of[Name] extends { values: string } ? Name : never }[keyof Of];
/** The fields whose spellings a connector may translate. */
export type ValueField = { [Name in Table]: WithValues<(typeof fields)[Name]> }[Table];
