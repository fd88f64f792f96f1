import type { Json } from '../../terms.ts';
import type { ListName } from '../canonical/fields.ts';
import { identityOf, timeOf } from './account.ts';
import type { Account, Accounts, Element, Timed } from './claim.ts';
import { type Consent, type ConsentStatement, consentIn, consentOf } from './consent.ts';
import {
  amountCurrency,
  extraPrefix,
  groupOf,
  isNewer,
  leaderOf,
  listNames,
  type Source,
  type Time,
  type Values,
} from './content.ts';
import { type ItemIdentity, matchItems } from './match-items.ts';

/** Who gave a field of the merged record, and when. */
export interface Winner {
  readonly source: Source;
  readonly at: Time;
}

export interface Merged {
  /** The merged canonical values, in the form that the check takes. */
  readonly draft: { readonly [field: string]: Json };
  /** By canonical path, such as guests[0].email: who gave each field that has a value. */
  readonly winners: () => ReadonlyMap<string, Winner>;
  /** Of each guest, by position. */
  readonly consents: readonly (Consent | undefined)[];
}

/**
 * Merges the accounts of several sources into one record: for each field the newest statement of any source. The newest list decides which
 * elements exist; the other accounts add their fields of the same elements.
 */
export function merge(accounts: Accounts): Merged {
  const sources = sourcesOf(accounts);
  const top = new Slots();
  for (const { source, account } of sources) top.add(account, source, account.time);
  const draft: { [field: string]: Json } = top.draft();
  const lists = listNames.flatMap((name) => {
    const items = mergeList(name, sources);
    if (items === undefined) return [];
    draft[name] = items.map((item) => item.draft());
    return [{ name, items }];
  });
  const winners = () => {
    const all = new Map<string, Winner>();
    top.addWinners(all, '');
    for (const { name, items } of lists)
      for (const [index, item] of items.entries()) item.addWinners(all, `${name}[${index}].`);
    return all;
  };
  const consents = lists.find(({ name }) => name === 'guests')?.items.map((item) => item.consent) ?? [];
  return { draft, winners, consents };
}

interface Named {
  readonly source: Source;
  readonly account: Account;
}

const order: readonly Source[] = ['pull', 'single', 'push', 'guest', 'profile'];

/** The partner's sources first, then destinations by name: between equal times the first one wins. */
function sourcesOf(accounts: Accounts): Named[] {
  const others = (Object.keys(accounts) as Source[]).filter((source) => !order.includes(source)).sort();
  return [...order, ...others].flatMap((source) => {
    const account = accounts[source];
    return account === undefined ? [] : [{ source, account }];
  });
}

/** The newest list first; accounts that name only some elements last. */
function mergeList(name: ListName, sources: readonly Named[]): Slots[] | undefined {
  const lists = sources
    .flatMap(({ source, account }) => {
      const list = account.lists[name];
      return list === undefined ? [] : [{ source, list, time: list.at ?? account.time }];
    })
    .sort(
      (a, b) => Number(a.list.at === undefined) - Number(b.list.at === undefined) || (isNewer(a.time, b.time) ? -1 : 1),
    );
  const [first] = lists;
  if (first === undefined) return undefined;
  const decidedAt = first.list.at;
  const items: Slots[] = [];
  for (const { source, list, time } of lists) {
    const here = list.items.filter(({ gone }) => gone === undefined);
    const places = matchItems(name, items.map(identityIn), here.map(identityOf));
    const met = new Set<Slots>();
    for (const [index, item] of here.entries()) {
      let slots = items[places[index] ?? -1];
      if (slots === undefined) {
        const exists =
          list === first.list ||
          (item.since !== undefined && (decidedAt === undefined || isNewer(item.since, decidedAt)));
        if (!exists) continue;
        slots = new Slots();
        items.push(slots);
      }
      met.add(slots);
      slots.add(item, source, item.since ?? time);
    }
    // What a source said of an element that its own list lacks counts where another list has it.
    if (here.length === list.items.length) continue;
    const away = list.items.filter(({ gone }) => gone !== undefined);
    const open = items.filter((slots) => !met.has(slots));
    const back = matchItems(name, open.map(identityIn), away.map(identityOf), false, [
      ...items.map(identityIn),
      ...here.map(identityOf),
    ]);
    for (const [index, item] of away.entries()) open[back[index] ?? -1]?.add(item, source, item.since ?? time);
  }
  return items;
}

const identityIn = (slots: Slots): ItemIdentity => slots.identity();

/** The fields of one object, each with its newest statement. */
class Slots {
  readonly #fields = new Map<string, { readonly from: Timed; readonly winner: Winner }>();
  readonly #looks: (readonly Values[])[] = [];
  readonly #consents: { [source: string]: ConsentStatement } = {};
  #key: string | undefined;
  #consent: Consent | undefined;

  add(timed: Timed & Partial<Element>, source: Source, otherwise: Time): void {
    this.#looks.push(timed.as === undefined ? [timed.values] : [timed.values, timed.as]);
    this.#key ??= timed.key;
    const usual = { from: timed, winner: { source, at: otherwise } };
    for (const name of Object.keys(timed.values)) {
      const field = leaderOf(name);
      const stated = field === 'marketing_consent' ? consentIn(timed.mentions) : undefined;
      if (stated !== undefined) {
        this.#consents[source] = stated;
        continue;
      }
      const at = timeOf(timed, field, otherwise);
      const known = this.#fields.get(field);
      if (known !== undefined && !isNewer(at, known.winner.at)) continue;
      this.#fields.set(field, at === otherwise ? usual : { from: timed, winner: { source, at } });
    }
  }

  identity(): ItemIdentity {
    return { key: this.#key, looks: this.#looks };
  }

  /** By the one rule of consent, not by the newest statement. */
  get consent(): Consent | undefined {
    this.#consent ??= consentOf(this.#consents);
    return this.#consent;
  }

  draft(): { [field: string]: Json } {
    const draft: { [field: string]: Json } = {};
    const { consent } = this;
    if (consent !== undefined && consent.value !== null) draft.marketing_consent = consent.value;
    let extra: { [name: string]: Json } | undefined;
    for (const [field, { from }] of this.#fields) {
      for (const one of groupOf(field)) {
        const value = from.values[one];
        if (value === undefined || value === null) continue;
        if (one.startsWith(extraPrefix)) {
          extra ??= {};
          extra[one.slice(extraPrefix.length)] = value;
        } else {
          draft[one] = value;
        }
      }
    }
    const { [amountCurrency]: own, ...canonical } = draft;
    if (own !== undefined) canonical.currency = own;
    // Equal content must be equal text, whichever source gave it first.
    if (extra) canonical.extra = Object.fromEntries(Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1)));
    return canonical;
  }

  addWinners(winners: Map<string, Winner>, prefix: string): void {
    for (const [field, { from, winner }] of this.#fields) {
      const isValue = (one: string) => (from.values[one] ?? null) !== null;
      if (isValue(field) || groupOf(field).some(isValue)) winners.set(prefix + field, winner);
    }
    const { consent } = this;
    if (consent !== undefined && consent.value !== null)
      winners.set(`${prefix}marketing_consent`, { source: consent.source, at: [consent.at, 0] });
  }
}
