import { chunksOf } from '../../../../kit/chunks.ts';
import { isObject, type Json, type JsonObject } from '../../../../terms.ts';
import type { PullSettings, Related, RequestTemplate } from '../../../documents/pull.ts';
import { pathReader, pathWalker } from '../../../json-path/read.ts';
import type { Asker } from '../../../outbound/ask/asking.ts';
import type { AskCounts, NoAnswer, Tried } from '../../../outbound/ask/ports.ts';
import type { Values } from '../../../outbound/ask/request.ts';
import { addedParameters } from '../../../outbound/auth/fixed.ts';
import { totalOf } from './page.ts';
import { openPage, type PageState, paginatorFor } from './paginate.ts';

/** Rows by table name. */
type Tables = Readonly<Record<string, Json[]>>;

/** `body` is the answer with the tables added beside the list, for the mapping to read at `$body`. */
type WithRelated = { readonly kind: 'body'; readonly body: Json; readonly bytes: number } | NoAnswer;

type Listed = { readonly kind: 'rows'; readonly rows: readonly Json[]; readonly bytes: number } | NoAnswer;

export interface RelatedOptions {
  readonly counts: AskCounts;
  /** More pages than this for one chunk end as `pull.endless`. */
  readonly mostPages: number;
  readonly tried?: Tried | undefined;
  /** Whole tables that the run has requested already, by name. */
  readonly whole?: Map<string, Json[]> | undefined;
}

interface Context extends RelatedOptions {
  readonly asker: Asker;
  readonly settings: PullSettings;
}

type Id = string | number;

/**
 * Fetches what the rows of a page refer to by id only, one table after the other, so that a table can use the ids of an earlier
 * one. The requests share the page's credentials, retries, waits and circuit; nothing is stored before all are answered.
 */
export async function addRelated(
  asker: Asker,
  settings: PullSettings,
  { body, rows }: { readonly body: Json; readonly rows: readonly Json[] },
  options: RelatedOptions,
): Promise<WithRelated> {
  if (settings.related.length === 0) return { kind: 'body', body, bytes: 0 };
  const context = { ...options, asker, settings };
  const tables: Record<string, Json[]> = {};
  let bytes = 0;
  for (const table of settings.related) {
    const known = options.whole?.get(table.name);
    if (known !== undefined) {
      tables[table.name] = known;
      continue;
    }
    const whole = () => fetchList(context, table, { brand_id: settings.brandId }, false);
    const asked =
      table.ids === undefined
        ? [whole]
        : chunksOf(distinctIds(table.ids, rows, tables), table.chunk).map(
            (ids) => () => fetchChunk(context, table, ids),
          );
    const matching: Json[] = [];
    let held = 0;
    for (const requests of chunksOf(asked, chunksAtOnce(settings))) {
      const answers = await Promise.all(requests.map((request) => request()));
      for (const got of answers) {
        if (got.kind !== 'rows') return got;
        for (const row of got.rows) matching.push(row);
        held += got.bytes;
        if (held > settings.maxBytes) {
          const message = `the rows of ${table.name} for one page exceed the limit of ${settings.maxBytes} bytes`;
          return { kind: 'failed', code: 'pull.too_large', message };
        }
      }
    }
    tables[table.name] = matching;
    if (table.ids === undefined) options.whole?.set(table.name, matching);
    bytes += held;
  }
  return { kind: 'body', body: { ...asObject(body), ...tables }, bytes };
}

/** A declared rate bounds the requests, so some may be open at the same time; otherwise a partner gets one after the other. */
export function chunksAtOnce({ rate }: Pick<PullSettings, 'rate'>): number {
  return rate === undefined ? 1 : Math.max(1, Math.min(mostAtOnce, rate.burst));
}

const mostAtOnce = 4;

/** In order of first mention. Values that are not ids (null, objects) are skipped; the mapping reports the missing row. */
function distinctIds(sources: NonNullable<Related['ids']>, rows: readonly Json[], tables: Tables): Id[] {
  const ids = new Map<string, Id>();
  for (const source of [sources].flat()) {
    const { path, table } = typeof source === 'string' ? { path: source, table: undefined } : source;
    const walk = pathWalker(path);
    for (const row of table === undefined ? rows : ((Object.hasOwn(tables, table) ? tables[table] : undefined) ?? [])) {
      for (const value of walk(row)) {
        if ((typeof value === 'string' && value !== '') || typeof value === 'number')
          ids.set(`${typeof value} ${value}`, value);
      }
    }
  }
  return [...ids.values()];
}

/** One chunk of ids, halved if the partner cannot take it in one request. */
async function fetchChunk(context: Context, table: Related, ids: readonly Id[]): Promise<Listed> {
  const values = { ids: [...ids], 'ids.joined': ids.join(','), brand_id: context.settings.brandId };
  const got = await fetchList(context, table, values, ids.length > 1);
  // 404 for a single id means that the id is unknown, not that the path is wrong.
  if (got.kind === 'failed' && got.code === 'pull.not_found' && ids.length === 1)
    return { kind: 'rows', rows: [], bytes: 0 };
  if (got.kind === 'rows') return { ...got, rows: got.rows.map((row) => withId(row, table.id_as, ids)) };
  if (got.kind !== 'shrink') return got;
  const middle = Math.ceil(ids.length / 2);
  const first = await fetchChunk(context, table, ids.slice(0, middle));
  if (first.kind !== 'rows') return first;
  const second = await fetchChunk(context, table, ids.slice(middle));
  if (second.kind !== 'rows') return second;
  return { kind: 'rows', rows: [...first.rows, ...second.rows], bytes: first.bytes + second.bytes };
}

type Table = RequestTemplate & Pick<Related, 'name' | 'root_path' | 'pagination'>;

/** All pages of a table. */
async function fetchList(
  { asker, settings, counts, mostPages, tried }: Context,
  table: Table,
  values: Values,
  canShrink: boolean,
): Promise<Listed> {
  const paginator = paginatorFor(table.pagination, addedParameters(settings));
  const rows: Json[] = [];
  const followed = new Set<string>();
  let bytes = 0;
  let state: PageState = paginator.first;
  for (;;) {
    followed.add(JSON.stringify(state));
    const asked = await asker.ask(openPage(paginator, state, table, settings.base_url, values), {
      canShrink,
      firstPage: true,
      counts,
      hasRows: (body) => (rowsIn(body, table) ?? []).length > 0,
      tried,
    });
    if (asked.kind !== 'answer') return asked;
    const body = asked.body ?? [];
    const page = rowsIn(body, table);
    if (page === undefined) {
      const message = `the answer for ${table.name} holds no list at ${table.root_path ?? table.name}`;
      return { kind: 'failed', code: 'pull.wrong_shape', message };
    }
    for (const row of page) rows.push(row);
    bytes += asked.bytes;
    const total = totalOf(table.pagination, body, asked.headers);
    const about = { rows: page.length, body, headers: asked.headers, url: asked.url };
    const next = paginator.after(state, total === undefined ? about : { ...about, total });
    if (next.kind === 'end') return { kind: 'rows', rows, bytes };
    if (next.kind === 'broken') return { kind: 'failed', code: next.code, message: `${table.name}: ${next.message}` };
    if (followed.has(JSON.stringify(next.state))) {
      if (page.length === 0) return { kind: 'rows', rows, bytes };
      return { kind: 'failed', code: 'pull.cursor_repeated', message: `${table.name}: a cursor was repeated` };
    }
    if (followed.size >= mostPages) {
      return { kind: 'failed', code: 'pull.endless', message: `${table.name}: no end after ${mostPages} pages` };
    }
    state = next.state;
  }
}

/** The row with the id that was requested, for answers that do not repeat it. */
function withId(row: Json, idAs: string | undefined, [id]: readonly Id[]): Json {
  return idAs === undefined || id === undefined || !isObject(row) ? row : { ...row, [idAs]: id };
}

function rowsIn(body: Json, { name, root_path: rootPath }: Table): readonly Json[] | undefined {
  if (rootPath === undefined && Array.isArray(body)) return body;
  const rows = pathReader(rootPath ?? `"${name}"`)(body);
  if (rows === undefined) return undefined;
  if (rows === null) return [];
  return Array.isArray(rows) ? rows : [rows];
}

/** An answer as an object that can hold more fields. A bare list moves to `$list`, where the shape looks for it. */
export function asObject(body: Json): JsonObject {
  return isObject(body) ? body : { $list: body };
}
