import type { Row, WholePage } from '../../../../src/core/intake/pull/page/page.ts';
import { paginatorFor } from '../../../../src/core/intake/pull/page/paginate.ts';
import { WindowReader } from '../../../../src/core/intake/pull/run/pass.ts';
import { firstPass, type PassState } from '../../../../src/core/intake/pull/run/run-state.ts';
import { shortHash } from '../../../../src/kit/short-hash.ts';

/** One request as the partner sees it. */
export interface ListRequest {
  /** 1 for the first. */
  readonly no: number;
  readonly offset: number;
  readonly limit: number;
}

export interface ListAnswer {
  readonly rows: readonly string[];
  readonly total?: number;
}

export interface ReadOptions {
  readonly pageSize?: number;
  readonly type?: 'offset' | 'page';
  readonly mayOverlap?: boolean;
  /** The time between two requests. */
  readonly gapMs?: (no: number) => number;
  /** Each page is read by another node, from what the last one stored. */
  readonly isResumed?: boolean;
  readonly begin?: PassState;
  readonly mostPages?: number;
}

export interface ReadResult {
  readonly requests: readonly ListRequest[];
  readonly read: ReadonlySet<string>;
  readonly passes: number;
  /** Rows as counted for users. */
  readonly counted: number;
  readonly last: PassState;
  readonly code: string | undefined;
}

/** Reads one window of a list as a run does, without HTTP and without a store. */
export function readList(answer: (request: ListRequest) => ListAnswer, options: ReadOptions = {}): ReadResult {
  const { pageSize = 10, type = 'offset', mayOverlap = true, mostPages = 2_000 } = options;
  const place = { limit: 'query.limit', page_size: pageSize, first: 0, total: 'total' };
  const paginator = paginatorFor(
    type === 'offset' ? { type, offset: 'query.offset', ...place } : { type, page: 'query.page', ...place },
  );
  const rules = { paginator, limits: { pages: mostPages, emptyPages: 100 }, mayOverlap };
  const stored: { no: number; mark: number; fingerprint: number; bytes: Uint8Array }[] = [];
  const requests: ListRequest[] = [];
  const read = new Set<string>();
  let reader = new WindowReader(rules);
  let pass = options.begin ?? firstPass;
  let counted = 0;
  let at = 0;
  for (;;) {
    const state = pass.page ?? paginator.first;
    const value = Number(paginator.placements(state)[0]?.value);
    const request = {
      no: requests.length + 1,
      offset: type === 'offset' ? value : value * pageSize,
      limit: pageSize,
    };
    requests.push(request);
    const { rows, total } = answer(request);
    for (const id of rows) read.add(id);
    const page = pageOf(rows, total);
    const next = paginator.after(state, {
      rows: page.count,
      ...(total !== undefined && { total }),
      body: null,
      headers: {},
      url: 'https://partner.example/',
    });
    if (options.isResumed) {
      const current = stored.filter(({ no }) => no === pass.no);
      reader = new WindowReader(rules, {
        marks: current.map(({ mark }) => mark),
        fingerprints: current.map(({ fingerprint }) => fingerprint),
        seen: stored.map(({ no, bytes }) => ({ bytes, isCurrent: no === pass.no })),
      });
    }
    const taken = reader.take(pass, page, next, at);
    stored.push({ no: pass.no, mark: taken.mark, fingerprint: page.fingerprint, bytes: taken.seen });
    counted += taken.count;
    at += options.gapMs?.(request.no) ?? 100;
    const { follow } = taken;
    if (follow.kind === 'done') {
      return { requests, read, passes: pass.no, counted, last: pass, code: follow.finding?.code };
    }
    // As a run stores it.
    pass = JSON.parse(JSON.stringify(follow.pass)) as PassState;
  }
}

function pageOf(ids: readonly string[], total: number | undefined): WholePage {
  const rows: Row[] = ids.map((id) => {
    const identity = shortHash(id);
    return { identity, content: 1, raw: { key: id, value: null } };
  });
  const fingerprint = rows.length === 0 ? 0 : shortHash(rows.map(({ identity }) => identity).join());
  return { kind: 'page', rows, repeated: 0, count: rows.length, fingerprint, ...(total !== undefined && { total }) };
}

/** The answer of a correct server. */
export function pageAt(list: readonly string[], { offset, limit }: ListRequest): ListAnswer {
  return { rows: list.slice(offset, offset + limit), total: list.length };
}
