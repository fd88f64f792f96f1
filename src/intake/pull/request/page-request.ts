import type { PullSettings } from '../../../documents/pull.ts';
import type { Span } from '../../../kit/trace.ts';
import { type Asker, noAskCounts } from '../../../outbound/ask/ask.ts';
import type { AskCounts, Asked } from '../../../outbound/ask/asked.ts';
import { type OpenRequest, openRequest } from '../../../outbound/ask/request.ts';
import type { Json } from '../../../terms.ts';
import type { Paginator } from '../page/paginate/paginator.ts';
import type { Position, Run } from '../run/run-state.ts';
import { changesAt } from '../window/since.ts';
import { listRequestOf, noList } from './list-request.ts';
import { listValues, withFormats } from './list-values.ts';

/** A requested page, with the counts of its requests. */
export interface Fetched {
  readonly asked: Asked;
  readonly counts: AskCounts;
  readonly span?: Span | undefined;
}

/** Asks for the page at the position. The promise may reject before anybody awaits it: the page before is still being written. */
export function fetchPage(
  asker: Asker,
  request: OpenRequest,
  { pass }: Position,
  {
    hasRows,
    canShrink,
    span,
  }: { readonly hasRows: (body: Json) => boolean; readonly canShrink: boolean; readonly span: Span | undefined },
): Promise<Fetched> {
  const counts = noAskCounts();
  const asked = asker.ask(request, {
    canShrink,
    firstPage: pass.no === 1 && pass.pages === 0,
    ...(pass.tried && { tried: pass.tried }),
    counts,
    hasRows,
  });
  const fetched = asked.then((done) => ({ asked: done, counts, span }));
  fetched.catch(() => {});
  return fetched;
}

/** The list request for the position's window and page. */
export function pageRequest(
  settings: PullSettings,
  { sync }: Pick<Run, 'sync'>,
  paginator: Paginator,
  position: Position,
): OpenRequest {
  const { window, from, to, pass } = position;
  const page = pass.page ?? paginator.first;
  const status = sync === undefined ? undefined : settings.syncs[sync]?.status;
  const about = {
    window: window ?? { from, to },
    timezone: settings.timezone,
    brandId: settings.brandId,
    ...(sync !== undefined && { sync }),
    ...(status !== undefined && { status }),
    ...changesAt(settings, { sync }, position),
  };
  const template = listRequestOf(settings, { sync });
  if (template === undefined) throw new TypeError(noList.message);
  const values = withFormats(template, listValues(about), about);
  const request = openRequest(template, settings.base_url, values, paginator.placements(page));
  const address = paginator.address?.(page);
  return address === undefined ? request : { ...request, base: address, query: [] };
}
