import type { ListName, ReservationField } from '../canonical/fields.ts';
import { reservationFields } from '../canonical/fields.ts';
import type { Json, JsonObject, Note } from '../terms.ts';
import type { MapConfig, RawRecord, ShapeConfig } from './config.ts';
import type { Env } from './env.ts';
import { compileSlot } from './field.ts';
import { compileConflict, overRows } from './flat.ts';
import { asOne, compileList, type ListPart, valuesFor } from './list-map.ts';
import { type Drift, isBlank, keyText, type Read, type Root, type Scope, type Trace } from './scope.ts';
import { drift, statusOf } from './values.ts';

type Values = { [field: string]: Json | undefined };

/** The canonical keys of a record with values not yet checked. */
export interface DraftRecord extends Values {
  guests: Json[];
  rooms: Json[];
  charges: Json[];
}

export interface Built {
  readonly record: DraftRecord;
  readonly notes: Note[];
  readonly drift: Drift[];
}

export interface Builder {
  /** The partner's id of a record, as text; empty where there is none. */
  readonly key: (raw: RawRecord) => string;
  readonly build: (raw: RawRecord, trace: Trace | undefined) => Built;
  readonly guest: (item: Json, trace: Trace | undefined) => Omit<Built, 'record'> & { readonly record: Values };
}

/** The whole mapping of a connector as one function of a raw record. */
export function compileBuilder(config: ShapeConfig, env: Env): Builder {
  const flat = config.shape?.flat;
  const conflict = flat === undefined ? undefined : compileConflict(flat.conflict, env);
  const map: MapConfig = config.map ?? {};
  const topLevel = (field: ReservationField): Read => {
    const kind = reservationFields[field];
    // The status has two outcomes, so its values are looked up when both are made.
    const slot = { within: undefined, field, kind, values: field === 'status' ? undefined : valuesFor(field, config) };
    return compileSlot(map[field], slot, `map.${field}`, env, (read) =>
      conflict === undefined ? read : overRows(read, slot, conflict.rule),
    );
  };
  env.currency = topLevel('currency');
  const { currency } = env;
  const id = topLevel('id');
  const confirmation = topLevel('confirmation_number');
  const checkIn = topLevel('check_in');
  const checkOut = topLevel('check_out');
  const booked = topLevel('booking_date');
  const status = topLevel('status');
  const channel = topLevel('channel');
  const source = topLevel('source');
  const total = topLevel('total_amount');
  const guests = compileList('guests', config, conflict, env);
  const rooms = compileList('rooms', config, conflict, env);
  const charges = compileList('charges', config, conflict, env);
  const extras = Object.entries(map.extra ?? {}).map(([field, one]): [string, Read] => {
    const slot = { within: 'extra', field, kind: 'json', values: undefined } as const;
    return [
      field,
      compileSlot(one, slot, `map.extra.${field}`, env, (read) =>
        conflict === undefined ? read : overRows(read, slot, conflict.rule),
      ),
    ];
  });
  const translate = valuesFor('status', config);
  const other = config.unknownStatus === 'other';

  const build = (raw: RawRecord, trace: Trace | undefined): Built => {
    const scope = recordScope(raw, flat !== undefined, trace, conflict?.rank);
    const { root } = scope;
    const state = status(scope);
    const record: DraftRecord = {
      id: id(scope),
      confirmation_number: confirmation(scope),
      check_in: checkIn(scope),
      check_out: checkOut(scope),
      booking_date: booked(scope),
      status: undefined,
      status_raw: undefined,
      channel: channel(scope),
      source: source(scope),
      total_amount: total(scope),
      currency: currency(scope),
      guests: listOf(scope, 'guests', guests, guestOf, 'last_name'),
      rooms: listOf(scope, 'rooms', rooms, roomOf, 'room_type'),
      charges: listOf(scope, 'charges', charges, chargeOf, 'amount'),
      extra: extras.length === 0 ? undefined : extraOf(scope, extras),
    };
    if (state !== undefined && !isBlank(state)) putStatus(record, state, root);
    return { record, notes: root.notes, drift: root.drift };
  };

  const putStatus = (record: DraftRecord, state: Json, root: Root): void => {
    const spelling = keyText(state)?.trim();
    const known = spelling === undefined ? undefined : statusOf(spelling, translate);
    if (known !== undefined && known !== 'other') {
      record.status = known;
      return;
    }
    record.status_raw = spelling ?? state;
    if (known === 'other' || (other && spelling !== undefined)) record.status = 'other';
    if (known === undefined && spelling !== undefined) drift(root, 'status', spelling);
  };

  const guest: Builder['guest'] = (item, trace) => {
    const root = newRoot(undefined, undefined, trace);
    const scope = { item, key: 0, up: undefined, root, at: '', group: undefined };
    root.record = scope;
    const [part] = guests;
    return { record: part === undefined ? {} : guestOf(part.reads, scope), notes: root.notes, drift: root.drift };
  };
  const key = (raw: RawRecord): string =>
    keyText(id(recordScope(raw, flat !== undefined, undefined, conflict?.rank))) ?? '';
  return { key, build, guest };
}

function newRoot(body: Json | undefined, rows: readonly Json[] | undefined, trace: Trace | undefined): Root {
  return { record: undefined, index: 0, body, rows, notes: [], drift: [], trace };
}

function recordScope(
  raw: RawRecord,
  flat: boolean,
  trace: Trace | undefined,
  rank: ((rows: readonly Scope[]) => readonly Scope[]) | undefined,
): Scope {
  const rows = flat && Array.isArray(raw.value) ? raw.value : undefined;
  const root = newRoot(raw.body, rows, trace);
  if (rows !== undefined && rows.length > 0) {
    const scopes = rows.map(
      (item, key): Scope => ({ item, key, up: undefined, root, at: `[${key}]`, group: undefined }),
    );
    root.record = asOne(rank === undefined ? scopes : rank(scopes));
    return root.record;
  }
  let up: Scope | undefined;
  const around = raw.around ?? [];
  for (let level = around.length - 1; level >= 0; level--) {
    const at = `$parent${'.$parent'.repeat(level)}`;
    up = { item: around[level], key: 0, up, root, at, group: undefined };
  }
  root.record = { item: raw.value, key: 0, up, root, at: '', group: undefined };
  return root.record;
}

type Make = (reads: ListPart['reads'], scope: Scope) => Values;

/** The items of a list. One in which nothing at all was found is left out and noted: it would be an empty guest. */
function listOf(scope: Scope, name: ListName, parts: readonly ListPart[], make: Make, telling: string): Json[] {
  const { root } = scope;
  const out: Values[] = [];
  const seen = new Set<string>();
  for (const part of parts) {
    if (root.trace !== undefined) root.trace.present = false;
    const items = part.items(scope);
    if (root.trace?.present === true) root.trace.keys.add(name);
    for (const item of items) {
      root.index = out.length;
      const made = make(part.reads, item);
      if (isBlank(made[telling]) && Object.values(made).every(isBlank)) {
        if (item.item !== null) {
          const reason = 'An item in which no mapped field has a value was left out.';
          root.notes.push({ step: 'shape', field: name, code: 'empty_item', reason });
        }
        continue;
      }
      if (part.byContent) {
        const content = JSON.stringify(made);
        if (seen.has(content)) continue;
        seen.add(content);
      }
      out.push(made);
    }
  }
  return out as Json[];
}

const nothing: Read = () => undefined;

// Object literals, not loops over names: every guest then has one hidden class, and the check reads it four times as fast.
function guestOf(reads: ListPart['reads'], scope: Scope): Values {
  return {
    guest_id: (reads.guest_id ?? nothing)(scope),
    first_name: (reads.first_name ?? nothing)(scope),
    last_name: (reads.last_name ?? nothing)(scope),
    email: (reads.email ?? nothing)(scope),
    phone: (reads.phone ?? nothing)(scope),
    date_of_birth: (reads.date_of_birth ?? nothing)(scope),
    nationality: (reads.nationality ?? nothing)(scope),
    document_type: (reads.document_type ?? nothing)(scope),
    document_number: (reads.document_number ?? nothing)(scope),
    marketing_consent: (reads.marketing_consent ?? nothing)(scope),
  };
}

function roomOf(reads: ListPart['reads'], scope: Scope): Values {
  return {
    room_type: (reads.room_type ?? nothing)(scope),
    board: (reads.board ?? nothing)(scope),
    rate_code: (reads.rate_code ?? nothing)(scope),
    start_date: (reads.start_date ?? nothing)(scope),
    end_date: (reads.end_date ?? nothing)(scope),
    adults: (reads.adults ?? nothing)(scope),
    children: (reads.children ?? nothing)(scope),
  };
}

function chargeOf(reads: ListPart['reads'], scope: Scope): Values {
  return {
    code: (reads.code ?? nothing)(scope),
    description: (reads.description ?? nothing)(scope),
    amount: (reads.amount ?? nothing)(scope),
    quantity: (reads.quantity ?? nothing)(scope),
  };
}

function extraOf(scope: Scope, extras: readonly (readonly [string, Read])[]): Json | undefined {
  const extra: JsonObject = {};
  let some = false;
  for (const [name, read] of extras) {
    const value = read(scope);
    if (value === undefined || value === null) continue;
    extra[name] = value;
    some = true;
  }
  return some ? extra : undefined;
}
