import type { ErrorCode } from '../../../errors.ts';
import type { Json } from '../../../terms.ts';
import type { Placement } from '../request.ts';

/** Where in a list we are. JSON, since a run is resumed from it on another node. */
export type PageState = { readonly [key: string]: string | number | null };

/** A page, as far as finding the next one goes. */
export interface SeenPage {
  /** Rows as the partner counts them. */
  readonly rows: number;
  /** How many rows there are in all, where the partner says so in a way that can be read. */
  readonly total?: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  /** The address that gave it. */
  readonly url: string;
}

export type Next =
  | { readonly kind: 'next'; readonly state: PageState }
  /** The page looks like the last one, but a server that caps its pages would look the same. */
  | { readonly kind: 'short'; readonly state: PageState }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken'; readonly code: ErrorCode; readonly message: string };

/** One style of paging: a pure machine from page to next request. */
export interface Paginator {
  readonly first: PageState;
  /** Whether rows are found by counting, so that a list that shifts under us can hide some. */
  readonly counts: boolean;
  placements(state: PageState): readonly Placement[];
  /** The whole address, where the partner hands that out. */
  address?(state: PageState): string | undefined;
  after(state: PageState, page: SeenPage): Next;
}

/** A total that can be one: 450, "450". Anything else is as good as none. */
export function readTotal(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
