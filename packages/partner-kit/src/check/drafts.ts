import type { JsonObject } from '../json.ts';
import type { Draft } from './auth.ts';
import type { Target } from './target.ts';

/** List parameters by their names in the GET form; some differ in the POST form. */
export type ListParameters = Readonly<Record<string, string>>;

const bodyNames: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({ dateFrom: 'date_from', dateTo: 'date_to' }),
);
const numbers = new Set(['offset', 'limit', 'page', 'page_size']);

/** The requests of the interface description, for one base URL. */
export class Drafts {
  readonly #target: Target;
  readonly #base: string;

  constructor(target: Target) {
    this.#target = target;
    this.#base = target.baseUrl.replace(/\/+$/, '');
  }

  /** In the form that the partner offers, GET or POST. */
  list(parameters: ListParameters): Draft {
    if (this.#target.form === 'post') return this.search(parameters);
    const { listPath = '/api/reservations', own } = this.#target;
    const url = this.#url(listPath);
    for (const [name, value] of Object.entries(own?.fixed ?? {})) url.searchParams.set(name, String(value));
    for (const [name, value] of Object.entries(parameters)) {
      const named = own ? own.names[name] : name;
      if (named !== undefined) url.searchParams.set(named, value);
    }
    return { method: 'GET', url, headers: {} };
  }

  search(parameters: ListParameters): Draft {
    const { form, listPath, propertyId, own } = this.#target;
    const path = form === 'post' ? listPath : undefined;
    const body: JsonObject = own ? { ...own.fixed } : { include: ['guests', 'rooms', 'charges'] };
    if (propertyId !== undefined) body.property_id = propertyId;
    for (const [name, value] of Object.entries(parameters)) {
      const named = own ? own.names[name] : (bodyNames.get(name) ?? name);
      if (named !== undefined) body[named] = name === 'status' ? [value] : numbers.has(name) ? Number(value) : value;
    }
    return {
      method: 'POST',
      url: this.#url(path ?? '/api/reservations/search'),
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
  }

  single(id: string): Draft {
    return { method: 'GET', url: this.#url(`/api/reservations/${encodeURIComponent(id)}`), headers: {} };
  }

  #url(path: string): URL {
    return new URL(`${this.#base}${path}`);
  }
}
