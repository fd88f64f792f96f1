import type { JsonObject, LocalDate } from '../../terms.ts';
import type { CheckAuth, Draft } from './auth.ts';
import { OutOfRequests, type PoliteClient, type Seen } from './client.ts';
import { type Evidence, takeApart, type Walk, type WalkKind } from './evidence.ts';
import { walkPages } from './walk.ts';

export interface Target {
  /** The API's base: /api/reservations is put behind it. */
  readonly baseUrl: string;
  readonly auth: CheckAuth;
  readonly from: LocalDate;
  readonly to: LocalDate;
  /** Found by itself where it is left out: cursor, then link, else offset. */
  readonly paging?: WalkKind;
  readonly cursorParameter?: string;
  /** The key of the envelope that holds the list; reservations. */
  readonly rootPath?: string;
  /** For the search form. */
  readonly propertyId?: string;
}

const askedRows = 200;
const describedStatuses = ['confirmed', 'checked-in', 'checked-out', 'cancelled'];

/** Makes every request that the rules need, some twenty of them, and no other. */
export async function gather(target: Target, client: PoliteClient): Promise<Evidence> {
  const { auth, from, to, rootPath } = target;
  const base = target.baseUrl.replace(/\/+$/, '');
  const draft = (path: string, parameters: Readonly<Record<string, string>> = {}): Draft => {
    const url = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { method: 'GET', url, headers: {} };
  };
  const listDraft = (parameters: Readonly<Record<string, string>> = {}) => draft('/api/reservations', parameters);
  const dates = { dateFrom: from, dateTo: to };
  const bounded = withinBounds();

  const token = auth.type === 'oauth2' ? await fetchToken(auth, client) : undefined;
  const first =
    target.paging === 'page' ? { page: '1', page_size: String(askedRows) } : { offset: '0', limit: String(askedRows) };
  const list = await client.ask(
    'the list of a week',
    listDraft({
      ...dates,
      ...(target.paging === 'cursor' || target.paging === 'link' ? { limit: String(askedRows) } : first),
    }),
  );
  const listed = takeApart(list, rootPath);

  const missing: Seen[] = [];
  await bounded(async () => {
    missing.push(await client.ask('a list without dateFrom', listDraft({ dateTo: to })));
    missing.push(await client.ask('a list without dateTo', listDraft({ dateFrom: from })));
  });
  const malformed: Seen[] = [];
  await bounded(async () => {
    malformed.push(await client.ask('a list with a word for a date', listDraft({ dateFrom: 'yesterday', dateTo: to })));
    malformed.push(
      await client.ask(
        'a list with a day that does not exist',
        listDraft({ dateFrom: '2026-02-30', dateTo: '2026-03-02' }),
      ),
    );
  });
  const refused: Seen[] = [];
  if (auth.type !== 'none') {
    await bounded(async () => {
      refused.push(await client.ask('a list without credentials', listDraft(dates), 'none'));
      refused.push(await client.ask('a list with wrong credentials', listDraft(dates), 'wrong'));
    });
  }

  const records = listed?.records ?? [];
  let byStatus: Evidence['byStatus'];
  let walk: Walk | undefined;
  let single: Evidence['single'];
  let unknown: Seen | undefined;
  let search: Evidence['search'];
  if (listed !== undefined && records.length > 0) {
    await bounded(async () => {
      const asked = statusToAsk(records);
      const answer = await client.ask(
        `only those with status ${asked}`,
        listDraft({ ...dates, status: asked, limit: '50' }),
      );
      byStatus = { asked, answer, listed: takeApart(answer, rootPath) };
    });
    await bounded(async () => {
      walk = await walkPages({
        first: list,
        listed,
        asked: askedRows,
        kind: target.paging,
        rootPath,
        cursorParameter: target.cursorParameter ?? 'cursor',
        get: (purpose, where) =>
          client.ask(
            purpose,
            where instanceof URL ? { method: 'GET', url: where, headers: {} } : listDraft({ ...dates, ...where }),
          ),
      });
    });
    const inList = records.find(({ id }) => typeof id === 'string' || typeof id === 'number');
    if (inList !== undefined) {
      await bounded(async () => {
        const id = String(inList.id);
        single = {
          id,
          inList,
          answer: await client.ask('one reservation of the list', draft(`/api/reservations/${encodeURIComponent(id)}`)),
        };
      });
    }
  }
  await bounded(async () => {
    unknown = await client.ask(
      'a reservation that does not exist',
      draft('/api/reservations/innbound-check-no-such-id'),
    );
  });
  await bounded(async () => {
    const body: JsonObject = {
      date_from: from,
      date_to: to,
      include: ['guests', 'rooms', 'charges'],
      ...(target.propertyId === undefined ? {} : { property_id: target.propertyId }),
    };
    const answer = await client.ask('the same week by POST', {
      ...draft('/api/reservations/search'),
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    search = { answer, listed: takeApart(answer, rootPath) };
  });
  return {
    auth,
    range: { from, to },
    all: client.seen,
    token,
    list,
    listed,
    missing,
    malformed,
    refused,
    byStatus,
    walk,
    single,
    unknown,
    search,
  };
}

/** Steps until the requests are used up; those after it are left out, and their rules are skipped. */
function withinBounds(): (step: () => Promise<void>) => Promise<void> {
  let over = false;
  return async (step) => {
    if (over) return;
    try {
      await step();
    } catch (error) {
      if (!(error instanceof OutOfRequests)) throw error;
      over = true;
    }
  };
}

/** One that the list has, in the spelling of the description; confirmed where it has none of them. */
function statusToAsk(records: readonly JsonObject[]): string {
  const spelled = (text: string) => text.toLowerCase().replaceAll('_', '-');
  const had = records.map(({ status }) => (typeof status === 'string' ? status : ''));
  const found = describedStatuses.find((status) => had.some((one) => spelled(one) === status));
  return had.find((one) => spelled(one) === found) ?? 'confirmed';
}

async function fetchToken(auth: CheckAuth & { type: 'oauth2' }, client: PoliteClient): Promise<Seen> {
  const form = new URLSearchParams({ ...auth.parameters, grant_type: 'client_credentials' });
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  if (auth.clientAuth === 'post') {
    form.set('client_id', auth.clientId);
    form.set('client_secret', auth.clientSecret);
  } else {
    const pair = [auth.clientId, auth.clientSecret].map(encodeURIComponent).join(':');
    headers.Authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const seen = await client.ask(
    'an access token',
    { method: 'POST', url: new URL(auth.tokenUrl), headers, body: form.toString() },
    'none',
  );
  const { json } = seen;
  if (typeof json === 'object' && json !== null && !Array.isArray(json) && typeof json.access_token === 'string')
    client.token = json.access_token;
  return seen;
}
