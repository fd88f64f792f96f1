import type { Json, JsonObject } from '../../../src/terms.ts';
import { decided, type SaidConsent } from './consent-model.ts';
import type { Told } from './stories.ts';

/**
 * What a brand should know after some messages, whatever the order in which they came; and what an operator's decisions in between change.
 * Written from the rules alone: it shares no code with the program.
 *
 * A message states cells of a booking, such as `status` or `ana phone`. Of each cell the newest statement counts that is not blocked.
 */
type Source = 'pull' | 'single' | 'push' | 'guest';

interface Statement {
  readonly cell: string;
  /** Null: it is empty. */
  readonly value: Json;
  readonly at: number;
  readonly source: Source;
}

interface Known {
  readonly cells: ReadonlyMap<string, Json>;
  readonly guests: ReadonlySet<string>;
}

/** A held or refused value. `until`: a newer value counts, and later statements of this one would be news. */
interface Block extends Statement {
  readonly state: 'held' | 'refused';
  readonly until?: number;
}

const sources = { list: 'pull', single: 'single', 'reservation.updated': 'push' } as const;
const ofBooking = ['status', 'channel', 'total_amount'];
const ofGuest = ['nationality', 'phone', 'document_type'];
const consentField = 'marketing_consent';

const whoIs = (row: JsonObject): string => String(row.guest_id ?? row.email).replace(/^g\d*-|@.*$/g, '');
const guestsOf = (row: JsonObject): readonly JsonObject[] => (row.guests ?? []) as JsonObject[];

export class Model {
  readonly #told = new Map<number, Told>();
  readonly #blocks = new Map<string, readonly Block[]>();
  readonly #erased = new Set<string>();
  readonly #fields: readonly string[];

  /** `ownConsents`: bookings show what was said in them, not the decision about their persons. */
  constructor(ownConsents = false) {
    this.#fields = ownConsents ? [...ofGuest, consentField] : ofGuest;
  }

  hear(told: Told): void {
    const before = new Map(told.rows.map(({ id }) => [String(id), this.#known(String(id))]));
    const isNew = !this.#told.has(told.place);
    this.#told.set(told.place, told);
    if (told.isAccident && isNew) for (const [id, known] of before) if (known) this.#judge(id, known, told.place);
    for (const id of ['b-1', 'b-2']) this.#endBlocks(id);
  }

  #known(id: string): Known | undefined {
    const cells = this.#cells(id);
    const guests = (this.booking(id)?.guests ?? []) as JsonObject[];
    return cells && { cells, guests: new Set(guests.map(({ who }) => String(who))) };
  }

  /** What an accident would change of values that the booking has is held. */
  #judge(id: string, before: Known, at: number): void {
    const after = this.#cells(id);
    const own = this.#statements(id).filter((one) => one.at === at && !this.#blockOf(id, one));
    const held = own.filter(({ cell, value }) => {
      const [was, is] = [before.cells.get(cell) ?? null, after?.get(cell) ?? null];
      // Who is on the booking and agrees now is held; who withdraws is not. Of other fields a first value passes.
      return cell.endsWith(consentField)
        ? is === true && was !== true && value === true && before.guests.has(cell.split(' ')[0] as string)
        : was !== null && was !== value && is !== was;
    });
    this.#blocks.set(id, [...(this.#blocks.get(id) ?? []), ...held.map((one) => ({ ...one, state: 'held' as const }))]);
  }

  /** A held value is discarded by a newer one that counts: another source's value, or whatever its own source says. */
  #endBlocks(id: string): void {
    const counting = this.#counting(id);
    const next = (this.#blocks.get(id) ?? []).map((block) => {
      if (block.state === 'refused' || block.until !== undefined) return block;
      const last = Math.max(
        ...this.#statements(id)
          .filter((one) => isBlocked(block, one))
          .map(({ at }) => at),
      );
      const isReplaced = counting.some(
        ({ cell, at, source, value }) =>
          cell === block.cell && at > last && (source === block.source || value !== null),
      );
      return isReplaced ? { ...block, until: last } : block;
    });
    this.#blocks.set(id, next);
  }

  decide(is: 'released' | 'refused'): void {
    for (const [id, blocks] of this.#blocks) {
      const next = blocks.flatMap((one): Block[] => {
        if (one.state === 'refused' || one.until !== undefined) return [one];
        return is === 'released' ? [] : [{ ...one, state: 'refused' }];
      });
      this.#blocks.set(id, next);
    }
  }

  erase(who: string): void {
    this.#erased.add(who);
  }

  #blockOf = (id: string, one: Statement): Block | undefined =>
    this.#blocks.get(id)?.find((block) => isBlocked(block, one));

  #ofBooking(id: string): { readonly source: Source; readonly at: number; readonly row: JsonObject }[] {
    return [...this.#told.values()]
      .toSorted((a, b) => a.place - b.place)
      .flatMap(({ kind, place, rows }) => {
        if (kind === 'guest.updated' || kind === 'guest.feedback') return [];
        return rows.flatMap((row) => (row.id === id ? [{ source: sources[kind], at: place, row }] : []));
      });
  }

  /** All that was said of a booking, in time. */
  #statements(id: string): readonly Statement[] {
    const told = this.#ofBooking(id);
    const all: Statement[] = [];
    for (const source of ['pull', 'single', 'push'] as const) {
      const said = new Set<string>();
      let last = '';
      for (const { at, row } of told.filter((one) => one.source === source)) {
        // A list that repeats its row may be a cached copy: it says nothing new for half an hour.
        if (source === 'pull' && last === JSON.stringify(row)) continue;
        last = JSON.stringify(row);
        const own = new Map(ofBooking.flatMap((cell) => (row[cell] === undefined ? [] : [[cell, row[cell]] as const])));
        for (const one of guestsOf(row))
          for (const field of [...ofGuest, consentField])
            if (one[field] !== undefined) own.set(`${whoIs(one)} ${field}`, one[field]);
        // A row of a list is complete: what it lacks and stated before is empty.
        const isOf = (cell: string) => !cell.includes(' ') || guestsOf(row).some((one) => cell.startsWith(whoIs(one)));
        if (source === 'pull') for (const cell of said) if (isOf(cell) && !own.has(cell)) own.set(cell, null);
        for (const [cell, value] of own) {
          const one = { cell, value: value ?? null, at, source };
          all.push(one);
          if (!this.#blockOf(id, one)) said.add(cell);
        }
      }
    }
    return [...all, ...this.#ownStatements(id, all)];
  }

  /** A guest's own event is about the bookings that the guest has by then, unless they are cancelled. */
  #ownStatements(id: string, partners: readonly Statement[]): readonly Statement[] {
    const status = newest(partners.filter((one) => one.cell === 'status' && !this.#blockOf(id, one)));
    return [...this.#told.values()].flatMap(({ kind, place: at, rows: [row = {}] }) => {
      if (kind !== 'guest.updated' || (status?.value === 'cancelled' && status.at < at)) return [];
      const who = whoIs(row);
      const isNamed = this.#ofBooking(id).some(
        (one) => one.at <= at && guestsOf(one.row).some((guest) => whoIs(guest) === who),
      );
      if (!isNamed) return [];
      return ofGuest.flatMap((field): Statement[] =>
        row[field] === undefined ? [] : [{ cell: `${who} ${field}`, value: row[field], at, source: 'guest' }],
      );
    });
  }

  #cells(id: string): ReadonlyMap<string, Json> | undefined {
    if (!this.#ofBooking(id).some(({ row }) => row.status !== undefined)) return undefined;
    const counting = this.#counting(id);
    const cells = new Set(counting.map(({ cell }) => cell));
    const resolved = (cell: string) =>
      cell.endsWith(consentField)
        ? decided(this.#consents(id, counting, cell))
        : newest(counting.filter((one) => one.cell === cell))?.value;
    return new Map([...cells].map((cell) => [cell, resolved(cell) ?? null]));
  }

  /** The booking's cells that have a value, with its guests in their order. */
  booking(id: string): JsonObject | undefined {
    const cells = this.#cells(id);
    if (cells === undefined) return undefined;
    let list: readonly JsonObject[] = [];
    let last = '';
    for (const { source, row } of this.#ofBooking(id)) {
      const isCopy = source === 'pull' && last === JSON.stringify(row);
      if (source === 'pull') last = JSON.stringify(row);
      if (row.guests !== undefined && !isCopy) list = guestsOf(row);
    }
    const own = (fields: readonly string[], prefix = '') =>
      Object.fromEntries(
        fields.flatMap((field) => {
          const value = cells.get(prefix + field) ?? null;
          return value === null ? [] : [[field, value]];
        }),
      );
    const guests = list.map(whoIs).filter((who) => !this.#erased.has(who));
    const fields = this.#fields;
    return { ...own(ofBooking), guests: guests.map((who) => ({ who, ...own(fields, `${who} `) })) };
  }

  /** Whether the person agrees to marketing; undefined if nobody ever said. */
  consent(who: string): boolean | undefined {
    const own = [...this.#told.values()].flatMap(({ kind, place: at, rows: [row = {}] }): SaidConsent[] => {
      if (whoIs(row) !== who) return [];
      if (kind === 'guest.feedback') return [{ by: 'crm', at, value: false }];
      const value = row.marketing_consent;
      return kind === 'guest.updated' && typeof value === 'boolean' ? [{ by: 'guest', at, value }] : [];
    });
    const partners = ['b-1', 'b-2'].flatMap((id) => this.#consents(id, this.#counting(id), `${who} ${consentField}`));
    return decided([...partners, ...own]);
  }

  #counting = (id: string): readonly Statement[] => this.#statements(id).filter((one) => !this.#blockOf(id, one));

  #consents = (booking: string, counting: readonly Statement[], of: string): readonly SaidConsent[] =>
    counting.flatMap(({ cell, value, at, source: by }) =>
      cell === of && typeof value === 'boolean' ? [{ by, booking, at, value }] : [],
    );
}

function isBlocked(block: Block, { cell, value, at, source }: Statement): boolean {
  if (cell !== block.cell || value !== block.value || at < block.at || at > (block.until ?? Infinity)) return false;
  return block.state === 'refused' || source === block.source;
}

const newest = (all: readonly Statement[]): Statement | undefined => all.toSorted((a, b) => b.at - a.at)[0];

/** What the model knows of a stored booking. */
export function modelled({ status, channel, total_amount, guests }: JsonObject, ownConsents = false): JsonObject {
  const own = {
    status,
    channel,
    ...(total_amount !== undefined && { total_amount: Number(total_amount) }),
    guests: (guests as JsonObject[]).map((guest) => {
      const { nationality, phone, document_type, marketing_consent } = guest;
      return { who: whoIs(guest), nationality, phone, document_type, ...(ownConsents && { marketing_consent }) };
    }),
  };
  return JSON.parse(JSON.stringify(own)) as JsonObject;
}
