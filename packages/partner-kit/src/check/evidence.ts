import { isObject, type Json, type JsonObject, type LocalDate } from '../json.ts';
import type { CheckAuth } from './auth.ts';
import type { Seen } from './client.ts';

/** Everything observed about one API. Rules only read it; they make no requests. */
export interface Evidence {
  readonly auth: CheckAuth;
  readonly range: { readonly from: LocalDate; readonly to: LocalDate };
  readonly all: readonly Seen[];
  readonly token: Seen | undefined;
  /** The list of the week, requested correctly. */
  readonly list: Seen;
  readonly listed: Listed | undefined;
  /** Lists without dateFrom, without dateTo, and without both. */
  readonly missing: readonly Seen[];
  readonly malformed: readonly Seen[];
  /** Requests without and with wrong credentials; empty if the API needs none. */
  readonly refused: readonly Seen[];
  readonly byStatus: { readonly asked: string; readonly answer: Seen; readonly listed: Listed | undefined } | undefined;
  readonly walk: Walk | undefined;
  readonly single: { readonly id: string; readonly answer: Seen; readonly inList: JsonObject } | undefined;
  readonly unknown: Seen | undefined;
  readonly search: { readonly answer: Seen; readonly listed: Listed | undefined } | undefined;
}

/** A list response, parsed. */
export interface Listed {
  /** '' for a bare array, otherwise the key that contains the records. */
  readonly root: string;
  readonly records: readonly JsonObject[];
  readonly envelope: JsonObject | undefined;
  readonly nextCursor: string | undefined;
}

export const walkKinds = ['offset', 'page', 'cursor', 'link'] as const;
export type WalkKind = (typeof walkKinds)[number];

/** The list, read again in small pages, to its end or to the page limit. */
export interface Walk {
  readonly kind: WalkKind;
  readonly limit: number;
  readonly pages: readonly { readonly seen: Seen; readonly listed: Listed | undefined }[];
  /** full: the page limit was reached before the end. */
  readonly end: 'ended' | 'full' | 'failed';
  /** The expected number of rows, from `total` or from the first list. */
  readonly expected: number | undefined;
  /** Set if the first list returned fewer than the requested 200 rows although there are more. */
  readonly capped: { readonly asked: number; readonly got: number } | undefined;
}

/** Where and how a list differs from the one of the description. */
interface ListWords {
  /** The envelope's key that contains the list. Default: reservations. */
  readonly rootPath?: string;
  /** For an API with a list of its own. */
  readonly own?: {
    /** Its names of the described parameters; a parameter without one is not sent. */
    readonly names: Readonly<Record<string, string>>;
    /** Sent with every request. */
    readonly fixed: Readonly<Record<string, Json>>;
    /** Its list, with the ids and dates of its records as the description names them. */
    readonly read: (body: Json) => Listed | undefined;
  };
}

/** An API to check, and how to ask it. */
export interface Target extends ListWords {
  /** The API's base URL; the paths of the description are appended. */
  readonly baseUrl: string;
  readonly auth: CheckAuth;
  readonly from: LocalDate;
  readonly to: LocalDate;
  /** GET with a query, or POST with a body. Default: get. */
  readonly form?: 'get' | 'post';
  /** The list's path. Default: /api/reservations, or /api/reservations/search for POST. */
  readonly listPath?: string;
  /** Default: detected; cursor, then link, else offset. `none`: one answer has everything. */
  readonly paging?: WalkKind | 'none';
  readonly cursorParameter?: string;
  /** For the POST form. */
  readonly propertyId?: string;
}

export function takeApart(seen: Seen, { rootPath, own }: ListWords): Listed | undefined {
  const { json } = seen;
  if (seen.status !== 200 || json === undefined) return undefined;
  if (own) return own.read(json);
  if (Array.isArray(json)) return { root: '', records: objects(json), envelope: undefined, nextCursor: undefined };
  if (typeof json !== 'object' || json === null) return undefined;
  const named = rootPath ?? 'reservations';
  const root = Array.isArray(json[named]) ? named : Object.keys(json).find((key) => Array.isArray(json[key]));
  if (root === undefined) return undefined;
  const cursor = json.next_cursor;
  return {
    root,
    records: objects(json[root] as unknown[]),
    envelope: json,
    nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
  };
}

function objects(items: readonly unknown[]): JsonObject[] {
  return items.filter(isObject);
}

/** Identifies a row: its id, or the whole row if it has none. */
export function rowKey(record: JsonObject): string {
  const { id } = record;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : JSON.stringify(record);
}

/** The list changed while it was read: `total` differs between pages. */
export function moved({ listed, walk }: Evidence): boolean {
  const totals = [listed, ...(walk?.pages.map((page) => page.listed) ?? [])].map((one) => one?.envelope?.total);
  return new Set(totals).size > 1;
}
