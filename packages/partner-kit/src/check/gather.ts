import type { JsonObject } from '../json.ts';
import type { CheckAuth } from './auth.ts';
import { OutOfRequests, type PoliteClient, type Seen } from './client.ts';
import { Drafts } from './drafts.ts';
import { type Evidence, type Listed, takeApart } from './evidence.ts';
import type { Target } from './target.ts';
import { fetchToken } from './token.ts';
import { walkPages } from './walk.ts';

const askedRows = 200;
const describedStatuses = ['confirmed', 'checked-in', 'checked-out', 'cancelled'];

/** Makes all requests that the rules need, about twenty. */
export async function gather(target: Target, client: PoliteClient): Promise<Evidence> {
  const { auth, from, to } = target;
  const drafts = new Drafts(target);
  const week = { dateFrom: from, dateTo: to };
  const within = withinBounds();

  const token = auth.type === 'oauth2' ? await fetchToken(auth, client) : undefined;
  const list = await client.ask('the list of a week', drafts.list({ ...week, ...wholePage(target.paging) }));
  const listed = takeApart(list, target);
  const evidence = { auth, range: { from, to }, all: client.seen, token, list, listed };

  const missing = await within([], async (seen: Seen[]) => {
    seen.push(await client.ask('a list without dateFrom', drafts.list({ dateTo: to })));
    seen.push(await client.ask('a list without dateTo', drafts.list({ dateFrom: from })));
  });
  const malformed = await within([], async (seen: Seen[]) => {
    const ask = async (what: string, dateFrom: string) =>
      seen.push(await client.ask(`a list with ${what}`, drafts.list({ dateFrom, dateTo: to })));
    await ask('a word for a date', 'yesterday');
    await ask('a day that does not exist', '2026-02-30');
  });
  const refused = await within([], async (seen: Seen[]) => {
    if (auth.type === 'none') return;
    seen.push(await client.ask('a list without credentials', drafts.list(week), 'none'));
    seen.push(await client.ask('a list with wrong credentials', drafts.list(week), 'wrong'));
  });
  const found = await within({}, (more: Mutable<Gathered>) =>
    lookCloser({ target, client, drafts }, list, listed, more),
  );
  const rest = await within({}, async (more: Mutable<Pick<Evidence, 'unknown' | 'search'>>) => {
    if (target.own) return;
    if (!bodyOnly(auth))
      more.unknown = await client.ask('a reservation that does not exist', drafts.single('innbound-check-no-such-id'));
    if (target.form === 'post') return;
    const answer = await client.ask('the same week by POST', drafts.search(week));
    more.search = { answer, listed: takeApart(answer, target) };
  });
  return {
    ...evidence,
    missing,
    malformed,
    refused,
    byStatus: undefined,
    walk: undefined,
    single: undefined,
    unknown: undefined,
    search: undefined,
    ...found,
    ...rest,
  };
}

type Gathered = Pick<Evidence, 'byStatus' | 'walk' | 'single'>;
type Mutable<T> = { -readonly [Key in keyof T]?: T[Key] };

/** Requests that need an existing reservation. */
async function lookCloser(
  { target, client, drafts }: { readonly target: Target; readonly client: PoliteClient; readonly drafts: Drafts },
  list: Seen,
  listed: Listed | undefined,
  more: Mutable<Gathered>,
): Promise<void> {
  if (listed === undefined || listed.records.length === 0) return;
  const { from, to, own, paging } = target;
  const week = { dateFrom: from, dateTo: to };
  if (own === undefined) {
    const asked = statusToAsk(listed.records);
    const answer = await client.ask(
      `only those with status ${asked}`,
      drafts.list({ ...week, status: asked, limit: '50' }),
    );
    more.byStatus = { asked, answer, listed: takeApart(answer, target) };
    const inList = listed.records.find(({ id }) => typeof id === 'string' || typeof id === 'number');
    if (inList !== undefined && !bodyOnly(target.auth)) {
      const id = String(inList.id);
      more.single = { id, inList, answer: await client.ask('one reservation of the list', drafts.single(id)) };
    }
  }
  if (paging === 'none') return;
  more.walk = await walkPages({
    first: list,
    listed,
    asked: askedRows,
    kind: paging,
    words: target,
    cursorParameter: target.cursorParameter ?? 'cursor',
    get: (purpose, where) =>
      client.ask(
        purpose,
        where instanceof URL ? { method: 'GET', url: where, headers: {} } : drafts.list({ ...week, ...where }),
      ),
  });
}

function wholePage(paging: Target['paging']): Readonly<Record<string, string>> {
  const limit = String(askedRows);
  if (paging === 'cursor' || paging === 'link') return { limit };
  return paging === 'page' ? { page: '1', page_size: limit } : { offset: '0', limit };
}

/** Credentials in the body, which a GET cannot carry. */
function bodyOnly(auth: CheckAuth): boolean {
  return auth.type === 'custom' && auth.headers === undefined && auth.query === undefined;
}

/** Runs steps until the request limit is reached; later steps are omitted, and their rules are skipped. */
function withinBounds(): <T>(into: T, step: (into: T) => Promise<unknown>) => Promise<T> {
  let over = false;
  return async (into, step) => {
    try {
      if (!over) await step(into);
    } catch (error) {
      if (!(error instanceof OutOfRequests)) throw error;
      over = true;
    }
    return into;
  };
}

/** A status that occurs in the list, in the description's spelling; confirmed if none does. */
function statusToAsk(records: readonly JsonObject[]): string {
  const spelled = (text: string) => text.toLowerCase().replaceAll('_', '-');
  const had = records.map(({ status }) => (typeof status === 'string' ? status : ''));
  const found = describedStatuses.find((status) => had.some((one) => spelled(one) === status));
  return had.find((one) => spelled(one) === found) ?? 'confirmed';
}
