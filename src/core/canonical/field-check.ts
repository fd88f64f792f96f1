import type { ErrorCode } from '../../errors.ts';
import type { Json, Note } from '../../terms.ts';
import { type FieldKind, type ListName, requiredFields } from './fields.ts';
import { noteOf } from './notes.ts';
import { hasCardToken } from './replaced-card.ts';
import { type Decimal, decimal, decimalOf } from './reservation.ts';
import { isCurrency, isLocalDate, toCountry } from './values.ts';

/** A rule that a field broke. It has the type of the value, never the value, which may be guest data; only a status is quoted. */
export interface Problem {
  readonly field: string;
  readonly rule: string;
  /** Absent if the rule is about two fields. */
  readonly type?: string;
  readonly status?: string;
}

const typeWords = new Map(
  Object.entries({
    string: 'text',
    number: 'a number',
    boolean: 'true or false',
    array: 'a list',
    object: 'an object',
    null: 'null',
  }),
);

/** One sentence for a person: "check_in must be a real date, YYYY-MM-DD (received: text)". */
export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(describe).join('; ');
}

function describe({ field, rule, type, status }: Problem): string {
  if (rule === mustBeThere) return `${field} is missing`;
  const came = status === undefined ? typeWords.get(type ?? '') : JSON.stringify(status);
  return came === undefined ? `${field} ${rule}` : `${field} ${rule} (received: ${came})`;
}

/** The rule of a required field. */
export const mustBeThere = 'must be there';
const yes: ReadonlySet<string> = new Set(['true', '1', 'yes', 'y', 'ja', 'j']);
const no: ReadonlySet<string> = new Set(['false', '0', 'no', 'n', 'nein', 'nee', 'nei', 'nej']);
const longestStatus = 80;
const longestDecimal = 60;
/** A longer value is not repeated in the note that reports it. */
const longestNoted = 200;

/**
 * Turns the values of one record, field by field, into canonical ones. An empty field gives undefined, and so does one that
 * breaks its rule: for an essential or strict field that is a problem, which makes the record a dead letter; for any other, a note.
 */
export class FieldCheck {
  readonly problems: Problem[] = [];
  readonly notes: Note[] = [];
  /** Set where the fault has its own code. */
  code: ErrorCode | undefined;
  readonly #strict: ReadonlySet<string> | undefined;
  /** The values were checked before. */
  readonly isClean: boolean;
  #list: string | undefined;
  #index = 0;

  /** `strict` names further fields whose wrong value makes the record a dead letter: currency, guests.nationality. */
  constructor(strict?: ReadonlySet<string>, isClean = false) {
    this.#strict = strict;
    this.isClean = isClean;
  }

  /** The fields that follow belong to this item of a list; undefined for the record itself. */
  at(list: string | undefined, index = 0): void {
    this.#list = list;
    this.#index = index;
  }

  path(name: string): string {
    return this.#list === undefined ? name : `${this.#list}[${this.#index}].${name}`;
  }

  fail(name: string, rule: string, value: unknown): undefined {
    const isNeeded = this.#list === undefined && requiredFields.has(name);
    if (isNeeded || this.#strict?.has(this.#list === undefined ? name : `${this.#list}.${name}`))
      this.problems.push({ field: this.path(name), rule, type: typeOf(value) });
    else this.#drop(name, rule, value);
    return undefined;
  }

  /** A fault that makes the record a dead letter, whatever the field. */
  refuse(name: string, rule: string, value: unknown, code: ErrorCode): undefined {
    this.code ??= code;
    this.problems.push({ field: this.path(name), rule, type: typeOf(value) });
    return undefined;
  }

  /** A guest without any field, because nothing was sent or a rule removed it. */
  leaveOut(field: string): void {
    const reason = 'No field of the guest has a value, so the guest was left out.';
    this.notes.push(noteOf('empty_item', field, { reason }));
  }

  #drop(name: string, rule: string, value: unknown): void {
    const field = this.path(name);
    const hollow = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    const sign = Array.isArray(value) ? '[]' : '{}';
    const cure = hollow ? ` If ${sign} means that there is no value, map the field with empty: [${sign}].` : '';
    const reason = `${field} ${rule}; the value was left out. A stored value stays.${cure}`;
    const isShown = typeof value !== 'object' && String(value).length <= longestNoted;
    const before = isShown ? (storable(String(value)) ?? '') : undefined;
    this.notes.push(noteOf('invalid_dropped', field, { reason, before }));
  }

  /** Two fields that contradict each other. */
  conflict(name: string, rule: string): void {
    this.problems.push({ field: this.path(name), rule });
  }

  /** An unknown status. The spelling is quoted, because the operator has to add it under `values`. */
  failStatus(value: unknown): void {
    const spelling = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined;
    const status =
      spelling !== undefined && spelling.length > longestStatus ? `${spelling.slice(0, longestStatus)}…` : spelling;
    const rule = 'must be a known status';
    this.problems.push({ field: 'status', rule, type: typeOf(value), ...(status !== undefined && { status }) });
  }

  text(value: unknown, name: string): string | undefined {
    const text = this.verbatim(value, name);
    if (text === undefined || (text.charCodeAt(0) > 32 && !endsWithSpace(text))) return text;
    return text.trim();
  }

  /** Text with its outer spaces, for fields that normalization cleans. */
  verbatim(value: unknown, name: string): string | undefined {
    if (typeof value === 'string') return storable(value);
    if (typeof value === 'number') {
      if (Number.isInteger(value) && !Number.isSafeInteger(value))
        return this.fail(name, 'must be exact: a number this large has lost digits', value);
      return decimalOf(value);
    }
    if (typeof value === 'boolean') return String(value);
    return this.fail(name, 'must be text', value);
  }

  /** The id of a reservation: a key in the database. */
  id(value: unknown, name: string): string | undefined {
    if (typeof value === 'string' && plainId.test(value)) return value;
    if (typeof value === 'boolean') return this.fail(name, 'must be text', value);
    if (typeof value === 'string' && hasCardToken.test(value)) {
      return this.refuse(name, 'must not be a card number', value, 'record.id_unusable');
    }
    if (typeof value !== 'string' || isUsableId(value.trim())) return this.text(value, name);
    const rule = `must have no control characters and at most ${longestId} characters`;
    return this.refuse(name, rule, value, 'record.id_unusable');
  }

  /** The id of a guest: also a key, but the booking does not need it. */
  guestId(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    return text === undefined || text.length <= longestId
      ? text
      : this.fail(name, `must have at most ${longestId} characters`, value);
  }

  date(value: unknown, name: string): string | undefined {
    if (typeof value === 'string') {
      if (isLocalDate(value)) return value;
      const trimmed = value.trim();
      if (trimmed === '') return undefined;
      return isLocalDate(trimmed) ? trimmed : this.fail(name, 'must be a real date, YYYY-MM-DD', value);
    }
    return this.fail(name, 'must be a real date, YYYY-MM-DD', value);
  }

  decimal(value: unknown, name: string): Decimal | undefined {
    if (typeof value === 'number') return this.#bounded(decimalOf(value), value, name);
    if (typeof value !== 'string') return this.fail(name, 'must be a decimal number', value);
    if (value.trim() === '') return undefined;
    return this.#bounded(decimal(value), value, name);
  }

  #bounded(amount: Decimal | undefined, value: unknown, name: string): Decimal | undefined {
    if (amount === undefined) return this.fail(name, 'must be a decimal number', value);
    return amount.length <= longestDecimal
      ? amount
      : this.fail(name, `must have at most ${longestDecimal} digits`, value);
  }

  integer(value: unknown, name: string): number | undefined {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
    if (typeof value === 'string') {
      if (value.trim() === '') return undefined;
      const plain = decimal(value);
      if (plain !== undefined && !plain.includes('.') && Number.isSafeInteger(Number(plain))) return Number(plain);
    }
    return this.fail(name, 'must be a whole number', value);
  }

  count(value: unknown, name: string): number | undefined {
    const amount = this.integer(value, name);
    return amount !== undefined && amount < 0 ? this.fail(name, 'must not be negative', value) : amount;
  }

  boolean(value: unknown, name: string): boolean | undefined {
    if (typeof value === 'boolean') return value;
    const text =
      typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : undefined;
    if (text === '') return undefined;
    if (text !== undefined && yes.has(text)) return true;
    if (text !== undefined && no.has(text)) return false;
    return this.fail(name, 'must be true or false', value);
  }

  country(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    if (text === undefined) return undefined;
    const code = toCountry(text);
    if (code === undefined) return this.fail(name, 'must be a country of ISO 3166, as two letters', value);
    if (code !== text) this.notes.push(noteOf('country_to_code', this.path(name), { before: text, after: code }));
    return code;
  }

  currency(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    if (text === undefined || isCurrency(text)) return text;
    const upper = text.toUpperCase();
    if (!isCurrency(upper)) return this.fail(name, 'must be a currency of ISO 4217, as three letters', value);
    this.notes.push(noteOf('currency_to_code', this.path(name), { before: text, after: upper }));
    return upper;
  }

  flag(value: unknown, _name: string): true | undefined {
    return value === true ? true : undefined;
  }

  /** A status that is not known. The check of the status reports an object or a list. */
  spelling(value: unknown, name: string): string | undefined {
    return typeof value === 'object' ? undefined : this.text(value, name);
  }

  json(value: unknown, name: string): { [key: string]: Json } | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) return this.fail(name, 'must be an object', value);
    const kept: [string, Json][] = [];
    for (const [key, field] of Object.entries(value as { [key: string]: Json | undefined })) {
      const clean = field === undefined || field === null ? undefined : cleanJson(field);
      if (clean !== undefined) kept.push([storable(key) ?? '', clean]);
    }
    // Not by assignment: a field named __proto__ would become the prototype.
    return kept.length > 0 ? Object.fromEntries(kept) : undefined;
  }
}

/** Whether a value passes as this kind of field; an empty one does. */
export function passes(kind: FieldKind, value: unknown): boolean {
  const check = new FieldCheck();
  if (kind === 'status') return typeof value === 'string';
  if (kind === 'birth_date') check.date(value, '');
  else check[kind](value, '');
  return check.problems.length === 0 && !check.notes.some(({ code }) => code === 'invalid_dropped');
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** PostgreSQL cannot store NUL or half a surrogate pair; such a character must not make the reservation a dead letter. */
export function storable(text: string): string | undefined {
  if (isPlain(text)) return text;
  const clean = text.toWellFormed().replaceAll('\0', '');
  return clean.trim() === '' ? undefined : clean;
}

/** The common case: short text without such characters. */
function isPlain(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > 64 || text.charCodeAt(0) <= 32 || text.charCodeAt(0) >= 128) return false;
  for (let at = 1; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0 || code >= 0xd800) return false;
  }
  return true;
}

function endsWithSpace(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last <= 32 || last >= 128;
}

/** The value unchanged, except for text that PostgreSQL cannot store. */
function cleanJson(value: Json): Json | undefined {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cleanJson(item) ?? null);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key) ?? '', cleanJson(item) ?? null]));
}

/** A PostgreSQL index entry holds about 2,700 bytes; 512 characters take at most 1,536 of them in UTF-8. */
export const longestId = 512;

/** Items per reservation. More than this means a wrong mapping or a faulty partner, and would slow down every later step. */
export const mostItems: Readonly<Record<ListName, number>> = { guests: 500, rooms: 500, charges: 5_000 };

/** The form of most ids, which passes every check of an id: one test instead of four saves 0.8 µs a record (bench shape, two arm64 cores). */
const plainId = /^[\w.:/-]{1,64}$/;

/** Whether a text can be a key in the database. Control characters are refused: they reach terminals and logs through the id. */
export function isUsableId(id: string): boolean {
  if (plainId.test(id)) return true;
  return id.length <= longestId && id.isWellFormed() && !/\p{Cc}/u.test(id);
}
