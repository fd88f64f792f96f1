import { readFileSync } from 'node:fs';
import type { Json } from '../json.ts';
import { actionKinds, type ChangeAction } from './actions.ts';
import { type Answer, bodyObject, type Exchange, json, problem, type Reply } from './exchange.ts';
import { type FaultBox, faultKinds, faults, readRule } from './faults/rule.ts';
import type { FaultEntry } from './faults/twist.ts';
import type { HotelChange } from './hotel.ts';
import type { LivingHotel } from './life.ts';
import type { LiveLog } from './log.ts';
import type { Pusher, PushTarget } from './push.ts';
import { isRealDate } from './query.ts';
import { guestFields, guestJson, reservationJson } from './represent.ts';

/** What the page and its calls need from the simulator. */
export interface Simulated {
  readonly hotel: LivingHotel;
  readonly faults: FaultBox;
  readonly log: LiveLog;
  readonly tokens: { expireAll(): void } | undefined;
  readonly pushers: readonly Pusher[];
  readonly stats: object;
  pushTo(targets: readonly PushTarget[]): Promise<void>;
  passDays(days: number): HotelChange[];
}

const prefix = '/_sim';

/** The simulator's admin side: shows its state and triggers changes. A real PMS has no such calls. */
export class AdminPaths {
  readonly #sim: Simulated;

  constructor(sim: Simulated) {
    this.#sim = sim;
  }

  /** Undefined for a path that is not under /_sim. */
  async handle(exchange: Exchange): Promise<Reply | undefined> {
    const { path, method } = exchange;
    if (path !== prefix && !path.startsWith(`${prefix}/`)) return undefined;
    // Another site's page can submit a form but cannot send this content type, so it cannot trigger anything here.
    if (method !== 'GET' && exchange.headers['content-type']?.startsWith('application/json') !== true) {
      return { answer: problem(415, 'not_json', 'Send application/json.') };
    }
    const body = method === 'GET' || exchange.bodyText === '' ? {} : bodyObject(exchange.bodyText);
    if (body === undefined) return { answer: problem(400, 'invalid_body', 'The body must be a JSON object.') };
    return { answer: await this.#answer(`${method} ${path.slice(prefix.length) || '/'}`, exchange, body) };
  }

  async #answer(call: string, exchange: Exchange, body: { readonly [key: string]: Json }): Promise<Answer> {
    const { hotel, faults: box } = this.#sim;
    switch (call) {
      case 'GET /':
        return statePage();
      case 'GET /state':
        return this.#state();
      case 'GET /reservations':
        return this.#search(exchange.query.get('search') ?? '', Number(exchange.query.get('limit') ?? 50));
      case 'POST /book':
        return changed(hotel.book(whole(body.in_days, 1, 0, 365), whole(body.nights, 2, 1, 60)));
      case 'POST /advance':
        return json(200, {
          changes:
            body.days === undefined
              ? hotel.advance(whole(body.changes, 1, 1, 1_000)).length
              : this.#sim.passDays(whole(body.days, 1, 1, 60)).length,
        });
      case 'POST /tokens/expire':
        this.#sim.tokens?.expireAll();
        return json(200, { expired: this.#sim.tokens !== undefined });
      case 'GET /faults':
        return json(200, { faults: box.rules, known: faultKinds.map((kind) => known(kind, faults[kind])) });
      case 'POST /faults': {
        const rule = readRule(body);
        if ('wrong' in rule) return problem(400, 'invalid_fault', rule.wrong);
        box.add(rule);
        return json(200, { faults: box.rules });
      }
      case 'DELETE /faults':
        box.set([]);
        return json(200, { faults: [] });
      case 'PUT /push':
        return this.#push(body);
      case 'DELETE /push':
        await this.#sim.pushTo([]);
        return json(200, { push: [] });
      case 'GET /dead-letters':
        return json(200, { dead_letters: await this.#deadLetters() });
      case 'POST /dead-letters/replay':
        return json(200, {
          results: (await Promise.all(this.#sim.pushers.map(({ sender }) => sender.replay('all')))).flat(),
        });
      default:
        return this.#change(call, body);
    }
  }

  #change(call: string, body: { readonly [key: string]: Json }): Answer {
    const id = /^POST \/reservations\/([^/]+)\/change$/.exec(call)?.[1];
    if (id === undefined) return problem(404, 'not_found', 'No such call.');
    const action = readAction(body);
    if ('wrong' in action) return problem(400, 'invalid_change', action.wrong);
    const change = this.#sim.hotel.change(id, action);
    return 'refused' in change ? problem(409, 'refused', change.refused) : changed(change);
  }

  #state(): Answer {
    const { hotel, faults: box, log, pushers } = this.#sim;
    return json(200, {
      today: Object.fromEntries(hotel.properties.map(({ id }) => [id, hotel.today(id)])),
      stats: this.#sim.stats,
      faults: box.rules,
      push: pushers.map(({ target }) => ({ url: target.url, brand_id: target.brand_id })),
      lines: log.lines,
    });
  }

  #search(text: string, limit: number): Answer {
    const { hotel } = this.#sim;
    const wanted = text.trim().toLowerCase();
    const matches: Json[] = [];
    for (const reservation of hotel.list().sort((a, b) => (a.checkIn < b.checkIn ? -1 : 1))) {
      const [guest] = hotel.guestsOf(reservation);
      const words = `${reservation.id} ${reservation.confirmationNumber} ${reservation.status} ${guest?.firstName} ${guest?.lastName} ${guest?.email}`;
      if (
        wanted === ''
          ? reservation.checkOut < hotel.today(reservation.propertyId)
          : !words.toLowerCase().includes(wanted)
      )
        continue;
      matches.push({
        ...reservationJson(hotel, reservation, { spelling: 'underscore', detail: 'full' }),
        guest: guest === undefined ? null : guestJson(guest),
      });
      if (matches.length >= Math.min(200, Math.max(1, limit || 50))) break;
    }
    return json(200, { reservations: matches });
  }

  async #push(body: { readonly [key: string]: Json }): Promise<Answer> {
    const { url, secret, brand_id } = body;
    if (typeof url !== 'string' || !URL.canParse(url) || typeof secret !== 'string' || typeof brand_id !== 'string') {
      return problem(400, 'invalid_push', 'Give url, secret and brand_id.');
    }
    await this.#sim.pushTo([{ url, secret, brand_id }]);
    return json(200, { push: [{ url, brand_id }] });
  }

  async #deadLetters() {
    const all = await Promise.all(this.#sim.pushers.map(({ sender }) => sender.deadLetters()));
    return all.flat().map(({ orderKey: _key, body: _body, acceptedAt: _at, ...shown }) => shown);
  }
}

function changed(change: HotelChange): Answer {
  return json(200, { event: change.event, what: change.what, reservation_id: change.reservation?.id ?? null });
}

function known(kind: string, entry: FaultEntry) {
  return {
    kind,
    what: entry.what,
    ...(entry.value === undefined ? {} : { value: entry.value[0], standard: entry.value[1] }),
  };
}

function whole(value: Json | undefined, standard: number, least: number, most: number): number {
  return typeof value === 'number' && Number.isInteger(value) ? Math.min(most, Math.max(least, value)) : standard;
}

const { guest_id: _id, ...changeable } = guestFields;

/** Reads a change requested through the page, or says what is wrong with it. */
function readAction(body: { readonly [key: string]: Json }): ChangeAction | { readonly wrong: string } {
  const kind = actionKinds.find((one) => one === body.kind);
  if (kind === undefined) return { wrong: `kind must be one of ${actionKinds.join(', ')}.` };
  if (kind === 'move') {
    const { check_in: checkIn, check_out: checkOut } = body;
    if (typeof checkIn !== 'string' || typeof checkOut !== 'string' || !isRealDate(checkIn) || !isRealDate(checkOut)) {
      return { wrong: 'check_in and check_out must be dates.' };
    }
    return { kind, checkIn, checkOut };
  }
  if (kind === 'extend') {
    const nights = body.nights ?? 1;
    if (typeof nights !== 'number' || !Number.isInteger(nights) || Math.abs(nights) > 365)
      return { wrong: 'nights must be a whole number.' };
    return { kind, nights };
  }
  if (kind !== 'guest') return { kind };
  const profile = body.profile === true;
  const given = body.set;
  if (given === undefined) return { kind, profile };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { wrong: 'set must be an object.' };
  const set: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(given)) {
    const own = Object.hasOwn(changeable, name) ? changeable[name as keyof typeof changeable] : undefined;
    const fits = name === 'marketing_consent' ? typeof value === 'boolean' : typeof value === 'string';
    if (own === undefined || !fits) return { wrong: `set.${name} is not a field of a guest, or has the wrong type.` };
    set[own] = value as string | boolean;
  }
  return { kind, profile, set };
}

const file = new URL('./page.html', import.meta.url);
let page: string | undefined;

/** A single file without external resources, so it works offline. */
function statePage(): Answer {
  page ??= readFileSync(file, 'utf8');
  return {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    },
    body: page,
  };
}
