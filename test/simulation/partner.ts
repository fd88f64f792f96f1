import { sign } from '../../packages/sender/src/sign.ts';
import type { Http } from '../../src/core/outbound/http.ts';
import type { JsonObject } from '../../src/terms.ts';
import type { Statement } from '../history/history.ts';
import type { Mention } from '../history/persons.ts';
import { type AccidentKind, damaged } from './accidents.ts';
import { accidentBrand, allBrands, brand, pageSizeOf } from './brands.ts';
import type { Host } from './host.ts';
import type { Dice } from './random.ts';
import type { VirtualTime } from './time.ts';

export interface Endpoint {
  readonly endpointId: string;
  readonly secret: string;
}

/** A node that may receive a webhook; undefined if the connection is refused or the answer is lost. */
export type Deliver = (arrived: {
  readonly endpointId: string;
  readonly headers: Record<string, string>;
  readonly rawBody: Buffer;
}) => Promise<number | undefined>;

interface Booking {
  readonly id: string;
  readonly checkIn: string;
  amount: number;
  status: string;
  guests: readonly RelativeName[];
}

/** Records what the partner said, for the checker. */
interface Saying {
  statement: Statement;
}

export const stateText = (data: { readonly status?: unknown; readonly total_amount?: unknown }): string =>
  `${data.status} ${Number(data.total_amount)}`;

/** Virtual in a simulation, real in `bench chaos`. */
export type PartnerTime = Pick<VirtualTime, 'nowMs' | 'after'>;

/** A hotel system: it changes reservations, sends an event for each change until it is accepted, and serves a list. */
export class Partner {
  readonly #time: PartnerTime;
  readonly #dice: Dice;
  readonly #endpoints: ReadonlyMap<string, Endpoint>;
  readonly #deliver: Deliver;
  readonly #books = new Map<string, Map<string, Booking>>();
  readonly #said = new Map<string, Saying>();
  /** What was said about each person of a booking. */
  readonly mentions: Mention[] = [];
  #amounts = 100;
  #events = 0;
  #rows = 0;
  #unsent = 0;
  /** Chance of a 503, a lost answer, or a slow one, for lists. */
  listFaults = 0;
  hasTotal = true;
  /** What is wrong in all rows of one brand's lists. */
  accident: readonly AccidentKind[] = [];

  constructor(time: PartnerTime, dice: Dice, endpoints: ReadonlyMap<string, Endpoint>, deliver: Deliver) {
    this.#time = time;
    this.#dice = dice;
    this.#endpoints = endpoints;
    this.#deliver = deliver;
    for (const name of allBrands) this.#books.set(name, new Map());
  }

  get statements(): Statement[] {
    return [...this.#said.values()].map(({ statement }) => statement);
  }

  get hasUnsentEvents(): boolean {
    return this.#unsent > 0;
  }

  /** Creates or changes a reservation. `pushes`: sends an event too; without it only a list shows the change. */
  change(integration: string, id: string, { pushes }: { readonly pushes: boolean }): void {
    const book = this.#books.get(integration) as Map<string, Booking>;
    this.#amounts += 1;
    const isCalm = integration === accidentBrand;
    const status = !isCalm && this.#dice.happens(0.15) ? 'cancelled' : 'confirmed';
    const checkIn = dayAfter(this.#time.nowMs, 1 + (Number(id.slice(1)) % 6));
    const booking = book.get(id) ?? { id, checkIn, amount: 0, status, guests: [] };
    booking.amount = this.#amounts;
    booking.status = status;
    booking.guests = isCalm
      ? ['ana']
      : relativeNames.filter(() => this.#dice.happens(0.6)).sort(() => this.#dice.next() - 0.5);
    book.set(id, booking);
    if (!pushes) return;
    const happenedAtMs = Math.floor(this.#time.nowMs);
    const isAhead = this.#dice.happens(0.05);
    const occurredAtMs = isAhead ? happenedAtMs + 120_000 : happenedAtMs;
    const delayMs = this.#dice.happens(0.2) ? this.#dice.between(1_000, 8_000) : this.#dice.between(0, 50);
    this.#send(integration, { ...booking }, occurredAtMs, delayMs);
    if (this.#dice.happens(0.1)) this.#sendAgainLater();
  }

  #lastSent: (() => void) | undefined;

  #sendAgainLater(): void {
    const again = this.#lastSent;
    if (again) this.#time.after(this.#dice.between(0, 5_000), again);
  }

  #send(integration: string, booking: Booking, occurredAtMs: number, delayMs: number): void {
    this.#events += 1;
    const eventId = `event-${this.#events}`;
    const event = booking.status === 'cancelled' ? 'reservation.cancelled' : 'reservation.updated';
    const content = {
      event,
      event_id: eventId,
      timestamp: new Date(occurredAtMs).toISOString(),
      brand_id: brand(integration).body.brand_id,
      data: reservationOf(booking, this.#guests(integration, booking, 'event')),
    };
    const rawBody = Buffer.from(JSON.stringify(content));
    const said = {
      id: eventId,
      record: `${integration}/${booking.id}`,
      value: stateText(content.data),
      isEvent: true,
    };
    const { endpointId, secret } = this.#endpoints.get(integration) as Endpoint;
    let firstSentMs: number | undefined;
    let isDone = false;
    this.#unsent += 1;
    const attempt = async (): Promise<void> => {
      firstSentMs ??= this.#time.nowMs;
      const note = (isAccepted: boolean) => {
        if (this.#said.get(eventId)?.statement.isAccepted) return;
        // Never later than the receipt, which was somewhere between the first try and now.
        const fromMs = Math.min(occurredAtMs, Math.floor(firstSentMs as number));
        const toMs = Math.min(occurredAtMs, Math.ceil(this.#time.nowMs) + 1);
        this.#said.set(eventId, { statement: { ...said, fromMs, toMs, isAccepted } });
      };
      note(false);
      const timestamp = Math.floor(this.#time.nowMs / 1_000);
      const signature = sign(secret, timestamp, rawBody);
      const headers = { 'x-webhook-timestamp': String(timestamp), 'x-webhook-signature': signature };
      const status = await this.#deliver({ endpointId, headers, rawBody });
      const isAccepted = status !== undefined && status < 300;
      note(isAccepted);
      if (isAccepted) {
        if (!isDone) this.#unsent -= 1;
        isDone = true;
        return;
      }
      this.#time.after(this.#dice.between(200, 2_000), () => void attempt());
    };
    this.#lastSent = () => {
      if (isDone) void attempt();
    };
    this.#time.after(delayMs, () => void attempt());
  }

  /** The list as one node requests it. Whether the node stores what it reads is not known outside. */
  httpFor(host: Host): Http {
    return {
      request: (exchange) =>
        new Promise((resolve) => {
          const startedAt = this.#time.nowMs;
          const fault = this.#dice.happens(this.listFaults) ? this.#dice.pick(['503', 'cut', 'slow'] as const) : '';
          const done = (answer: Parameters<typeof resolve>[0]) => host.enter(() => resolve(answer));
          const durationMs = () => this.#time.nowMs - startedAt;
          const failed = (reason: 'aborted' | 'reset') =>
            done({ kind: 'failed', reason, message: 'the connection was cut', durationMs: durationMs() });
          exchange.signal?.addEventListener('abort', () => failed('aborted'), { once: true });
          const wayMs = fault === 'slow' ? this.#dice.between(500, 1_900) : this.#dice.between(1, 150);
          this.#time.after(wayMs, () => {
            const url = new URL(exchange.url);
            const integration = url.hostname.split('.')[0] as string;
            const { bytes, rows } = this.#page(integration, url.searchParams);
            const backMs = this.#dice.between(1, 150);
            if (fault === 'cut') return this.#time.after(backMs, () => failed('reset'));
            if (fault !== '503') this.#noteRows(rows, startedAt, false);
            const headers = { 'content-type': 'application/json' };
            const status = fault === '503' ? 503 : 200;
            return this.#time.after(backMs, () =>
              done({
                kind: 'answer',
                status,
                headers,
                bytes: status === 200 ? bytes : noBytes,
                durationMs: durationMs(),
              }),
            );
          });
        }),
      close: async () => {},
    };
  }

  /** A page of the list, as the answer to a request that just arrived. */
  list(integration: string, query: URLSearchParams): Uint8Array {
    const { bytes, rows } = this.#page(integration, query);
    this.#noteRows(rows, this.#time.nowMs, false);
    return bytes;
  }

  #page(
    integration: string,
    query: URLSearchParams,
  ): { readonly bytes: Uint8Array; readonly rows: readonly (Booking & { integration: string })[] } {
    const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
    const book = [...(this.#books.get(integration)?.values() ?? [])];
    const listed = book.filter(({ checkIn }) => checkIn >= from && checkIn <= to);
    const offset = Number(query.get('offset') ?? 0);
    const rows = listed.slice(offset, offset + pageSizeOf(integration)).map((booking) => ({ ...booking, integration }));
    const kinds = integration === accidentBrand ? this.accident : [];
    const bytes = Buffer.from(
      JSON.stringify({
        reservations: rows.map((row) =>
          damaged(reservationOf(row, this.#guests(integration, row, 'row')) as object as JsonObject, kinds),
        ),
        ...(this.hasTotal && { total: listed.length }),
      }),
    );
    return { bytes, rows };
  }

  /** The guests of a booking as a row or an event shows them: with what only the one or the other knows. */
  #guests(integration: string, { id, guests }: Booking, as: 'row' | 'event'): object[] {
    const record = `${integration}/${id}`;
    return guests.map((person) => {
      const { name, row, event } = relatives(id)[person];
      const isNameless = integration !== accidentBrand && as === 'event' && person === 'ana' && this.#dice.happens(0.2);
      const guest = isNameless ? { phone } : { ...name, ...(as === 'row' ? row : event) };
      // Without a name it may mean any of them.
      const meant = isNameless ? relativeNames : [person];
      this.mentions.push(...meant.map((one) => ({ record, person: one, guest })));
      return guest;
    });
  }

  /** A complete run listed the whole book: all of it must be stored. */
  noteComplete(integration: string, requestedAtMs: number): void {
    const book = [...(this.#books.get(integration)?.values() ?? [])];
    this.#noteRows(
      book.map((booking) => ({ ...booking, integration })),
      requestedAtMs,
      true,
    );
  }

  #noteRows(rows: readonly (Booking & { integration: string })[], requestedAtMs: number, isAccepted: boolean): void {
    for (const row of rows) {
      this.#rows += 1;
      const id = `row-${this.#rows}`;
      const statement = {
        id,
        record: `${row.integration}/${row.id}`,
        value: stateText(reservationOf(row, [])),
        // The node's estimate of the database's clock may be behind by a round trip.
        fromMs: Math.floor(requestedAtMs) - clockErrorMs,
        toMs: Math.ceil(requestedAtMs) + 1,
        isAccepted,
        isEvent: false,
      };
      this.#said.set(id, { statement });
    }
  }
}

const clockErrorMs = 60;
const noBytes = new Uint8Array();

function dayAfter(atMs: number, days: number): string {
  return new Date(atMs + days * 86_400_000).toISOString().slice(0, 10);
}

const relativeNames = ['ana', 'senior', 'junior'] as const;
type RelativeName = (typeof relativeNames)[number];
const phone = '+351912345678';

/** Relatives with one phone; father and son have one name. The list knows documents and consents, events know phones. */
const relatives = (id: string) => ({
  ana: {
    name: { first_name: 'Ana', last_name: 'Exemplo' },
    row: { email: `${id.toLowerCase()}@guests.example`, document_number: `${id}-1`, marketing_consent: true },
    event: { phone, nationality: 'PT' },
  },
  senior: {
    name: { first_name: 'Rui', last_name: 'Exemplo', date_of_birth: '1950-02-03' },
    row: { document_number: `${id}-2`, marketing_consent: false },
    event: { phone, nationality: 'FR' },
  },
  junior: {
    name: { first_name: 'Rui', last_name: 'Exemplo', date_of_birth: '1980-02-03' },
    row: { document_number: `${id}-3` },
    event: { phone, nationality: 'DE' },
  },
});

function reservationOf({ id, checkIn, amount, status }: Booking, guests: readonly object[]) {
  return {
    id,
    confirmation_number: `C-${id}`,
    check_in: checkIn,
    check_out: new Date(Date.parse(checkIn) + 86_400_000).toISOString().slice(0, 10),
    status,
    total_amount: amount,
    currency: 'EUR',
    guests,
    rooms: [],
    charges: [],
  };
}
