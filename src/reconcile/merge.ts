import type { ListName } from '../canonical/fields.ts';
import type { Json } from '../terms.ts';
import { type Consent, type ConsentStatement, consentIn, consentOf } from './consent.ts';
import { type ItemIdentity, matchItems } from './match-items.ts';
import {
  amountCurrency,
  extraPrefix,
  fieldsSaid,
  groupOf,
  isNewer,
  listNames,
  type Moment,
  type Source,
  type Values,
} from './says.ts';
import { identityOf, momentOf, type Timed, type View, type ViewItem } from './view.ts';

/** What each source states about one reservation. */
export type Views = { readonly [Name in Source]?: View | undefined };

/** Who gave a field of the merged record, and when. */
export interface Giver {
  readonly source: Source;
  readonly at: Moment;
}

export interface Merged {
  /** The merged canonical values, in the form that the check takes. */
  readonly draft: { readonly [field: string]: Json };
  /** By canonical path, such as guests[0].email: every field with a value. */
  readonly givers: ReadonlyMap<string, Giver>;
  /** Of each guest, by position. */
  readonly consents: readonly (Consent | undefined)[];
}

/**
 * Merges several views into one record: for each field the newest statement of any source. The newest list decides which elements
 * exist; the other views add their fields of the same elements. A pure function of the views, so the order in which messages arrived
 * does not matter.
 */
export function merge(views: Views): Merged {
  const sources = sourcesOf(views);
  const top = new Slots();
  for (const { source, view } of sources) top.add(view, source, view.moment);
  const draft: { [field: string]: Json } = top.draft();
  const givers = new Map<string, Giver>();
  top.addGivers(givers, '');
  let consents: (Consent | undefined)[] = [];
  for (const name of listNames) {
    const items = mergeList(name, sources);
    if (items === undefined) continue;
    draft[name] = items.map((item) => item.draft());
    for (const [index, item] of items.entries()) item.addGivers(givers, `${name}[${index}].`);
    if (name === 'guests') consents = items.map((item) => item.consent);
  }
  return { draft, givers, consents };
}

interface Named {
  readonly source: Source;
  readonly view: View;
}

const order: readonly Source[] = ['pull', 'single', 'push'];

/** The partner's sources first, then destinations by name: between equal times the first one wins. */
function sourcesOf(views: Views): Named[] {
  const others = (Object.keys(views) as Source[]).filter((source) => !order.includes(source)).sort();
  return [...order, ...others].flatMap((source) => {
    const view = views[source];
    return view === undefined ? [] : [{ source, view }];
  });
}

/** The newest view of a list first; views that name only some elements last. */
function mergeList(name: ListName, sources: readonly Named[]): Slots[] | undefined {
  const lists = sources
    .flatMap(({ source, view }) => {
      const list = view.lists[name];
      return list === undefined ? [] : [{ source, list, moment: list.at ?? view.moment }];
    })
    .sort(
      (a, b) =>
        Number(a.list.at === undefined) - Number(b.list.at === undefined) || (isNewer(a.moment, b.moment) ? -1 : 1),
    );
  const [first] = lists;
  if (first === undefined) return undefined;
  const decidedAt = first.list.at;
  const items: Slots[] = [];
  for (const { source, list, moment } of lists) {
    const places = matchItems(
      name,
      items.map((item) => item.identity()),
      list.items.map(identityOf),
    );
    for (const [index, item] of list.items.entries()) {
      const place = places[index];
      let slots = place === undefined ? undefined : items[place];
      if (slots === undefined) {
        const exists =
          list === first.list ||
          (item.since !== undefined && (decidedAt === undefined || isNewer(item.since, decidedAt)));
        if (!exists) continue;
        slots = new Slots();
        items.push(slots);
      }
      slots.add(item, source, item.since ?? moment);
    }
  }
  return items;
}

/** The fields of one object, each with its newest statement. */
class Slots {
  readonly #fields = new Map<string, { readonly from: Timed; readonly giver: Giver }>();
  readonly #looks: (readonly Values[])[] = [];
  readonly #consents: { [Name in Source]?: ConsentStatement } = {};
  #key: string | undefined;

  add(timed: Timed & Partial<ViewItem>, source: Source, otherwise: Moment): void {
    this.#looks.push(timed.as === undefined ? [timed.values] : [timed.values, timed.as]);
    this.#key ??= timed.key;
    for (const field of fieldsSaid(timed.values)) {
      const stated = field === 'marketing_consent' ? consentIn(timed, otherwise) : undefined;
      if (stated !== undefined) {
        this.#consents[source] = stated;
        continue;
      }
      const at = momentOf(timed, field, otherwise);
      const known = this.#fields.get(field);
      if (known !== undefined && !isNewer(at, known.giver.at)) continue;
      this.#fields.set(field, { from: timed, giver: { source, at } });
    }
  }

  identity(): ItemIdentity {
    return { key: this.#key, looks: this.#looks };
  }

  /** By the one rule of consent, not by the newest statement. */
  get consent(): Consent | undefined {
    return consentOf(this.#consents);
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

  addGivers(givers: Map<string, Giver>, prefix: string): void {
    for (const [field, { from, giver }] of this.#fields) {
      if (groupOf(field).some((one) => (from.values[one] ?? null) !== null)) givers.set(prefix + field, giver);
    }
    const { consent } = this;
    if (consent !== undefined && consent.value !== null)
      givers.set(`${prefix}marketing_consent`, { source: consent.source, at: [consent.at, 0] });
  }
}
