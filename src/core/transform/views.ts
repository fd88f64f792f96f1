import type { Json } from '../../terms.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { type FieldKind, guestFields, lists, reservationFields } from './fields.ts';
import { LimitReached, limits } from './limits.ts';

/**
 * A record as an expression sees it. As in CEL over protocol buffers, an absent field reads as its zero ("" 0.0 0 false), so that
 * `channel == "BDC"` is false for a booking without a channel; has() distinguishes absent from zero. Decimals read as doubles; the
 * record keeps the exact text.
 */
export class View {
  readonly raw: Readonly<Record<string, unknown>>;
  constructor(raw: object) {
    this.raw = raw as Readonly<Record<string, unknown>>;
  }
  has(name: string): boolean {
    return this.raw[name] !== undefined;
  }
}

class ExtendedView extends View {
  #extra: ExtraView | undefined;
  get extra(): ExtraView {
    this.#extra ??= new ExtraView((this.raw.extra ?? {}) as Record<string, Json>);
    return this.#extra;
  }
}
export class GuestView extends ExtendedView {}
export class RoomView extends View {}
export class ChargeView extends View {}

export class ReservationView extends ExtendedView {
  #guests: GuestView[] | undefined;
  #rooms: RoomView[] | undefined;
  #charges: ChargeView[] | undefined;
  get guests(): GuestView[] {
    this.#guests ??= this.#items('guests').map((item) => new GuestView(item));
    return this.#guests;
  }
  get rooms(): RoomView[] {
    this.#rooms ??= this.#items('rooms').map((item) => new RoomView(item));
    return this.#rooms;
  }
  get charges(): ChargeView[] {
    this.#charges ??= this.#items('charges').map((item) => new ChargeView(item));
    return this.#charges;
  }
  #items(name: string): readonly object[] {
    return (this.raw[name] ?? []) as readonly object[];
  }
}

/** `extra`: any JSON. A missing name reads as null. */
export class ExtraView extends Map<string, Json> {
  readonly raw: Readonly<Record<string, Json>>;
  constructor(raw: Readonly<Record<string, Json>>) {
    super();
    checkSize(raw);
    this.raw = raw;
  }
  override has(name: string): boolean {
    return Object.hasOwn(this.raw, name);
  }
  override get(name: string): Json {
    return this.has(name) ? (this.raw[name] ?? null) : null;
  }
}

function checkSize(root: Json): void {
  const waiting: Json[] = [root];
  let values = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    values += 1;
    if (values > limits.extraValues) throw new LimitReached(`extra holds more than ${limits.extraValues} values`);
    if (typeof value === 'string') checkText(value);
    if (typeof value !== 'object' || value === null) continue;
    const entries = Array.isArray(value) ? value : Object.values(value);
    if (entries.length > limits.extraEntries) {
      throw new LimitReached(`a list or object in extra has more than ${limits.extraEntries} entries`);
    }
    waiting.push(...entries);
  }
}

export function checkText(text: string, longest: number = limits.text): string {
  if (text.length > longest) throw new LimitReached(`a text is longer than ${longest} characters`);
  return text;
}

const readers: Readonly<Record<FieldKind, (value: unknown, longestText: number) => unknown>> = {
  text: (value, longestText) => (value === undefined ? '' : checkText(String(value), longestText)),
  decimal: (value) => (value === undefined ? 0 : Number(value)),
  integer: (value) => (value === undefined ? 0n : BigInt(value as number)),
  flag: (value) => value === true,
};

function addGetters(
  view: { prototype: View },
  fields: Readonly<Record<string, FieldKind>>,
  longestText: number = limits.text,
): void {
  for (const [name, kind] of Object.entries(fields)) {
    const read = readers[kind];
    Object.defineProperty(view.prototype, name, {
      get(this: View) {
        return read(this.raw[name], longestText);
      },
    });
  }
}

addGetters(GuestView, guestFields, limits.itemText);
addGetters(RoomView, lists.rooms.fields, limits.itemText);
addGetters(ChargeView, lists.charges.fields);
addGetters(ReservationView, reservationFields);

/** Facts about a record besides its own fields. */
export interface About {
  readonly integration?: string | undefined;
  readonly brand_id?: string | undefined;
  readonly country?: string | undefined;
}

/** The variables of an expression, beside the fields of the record. */
class Scope {
  readonly integration: string;
  readonly brand_id: string;
  readonly country: string;
  constructor({ integration = '', brand_id = '', country = '' }: About) {
    this.integration = integration;
    this.brand_id = brand_id;
    this.country = country;
  }
}

/** Over a reservation; `guest`, `room` and `charge` are set while a rule iterates over a list. */
export class ReservationScope extends Scope {
  readonly reservation: ReservationView;
  guest: GuestView | undefined;
  room: RoomView | undefined;
  charge: ChargeView | undefined;
  constructor(record: Reservation, about: About) {
    super(about);
    this.reservation = new ReservationView(record);
  }
}

/** Over a guest delivered on its own. */
export class GuestScope extends Scope {
  readonly guest: GuestView;
  constructor(record: Guest, about: About) {
    super(about);
    this.guest = new GuestView(record);
  }
}

/** The fields of the record are variables too. */
function addFields(scope: { prototype: object }, record: 'reservation' | 'guest', names: readonly string[]): void {
  for (const name of names) {
    Object.defineProperty(scope.prototype, name, {
      get(this: Record<string, Record<string, unknown>>) {
        return this[record]?.[name];
      },
    });
  }
}

addFields(ReservationScope, 'reservation', [...Object.keys(reservationFields), ...Object.keys(lists), 'extra']);
addFields(GuestScope, 'guest', [...Object.keys(guestFields), 'extra']);
