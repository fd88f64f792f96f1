import { isObject, type JsonObject } from '../json.ts';
import type { CheckAuth, Draft } from './auth.ts';
import { OutOfRequests, type PoliteClient, type Seen } from './client.ts';
import { type Evidence, type Target, takeApart } from './evidence.ts';
import { walkPages } from './walk.ts';

/** List parameters by their names in the GET form; some differ in the POST form. */
type ListParameters = Readonly<Record<string, string>>;

const bodyNames: ListParameters = { dateFrom: 'date_from', dateTo: 'date_to' };
const numbers = new Set(['offset', 'limit', 'page', 'page_size']);

/** The requests of the interface description, for one base URL. */
function draftsFor({ baseUrl, form, listPath, propertyId, own }: Target) {
  const at = (path: string) => new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
  const search = (parameters: ListParameters): Draft => {
    const path = form === 'post' ? listPath : undefined;
    const body: JsonObject = own ? { ...own.fixed } : { include: ['guests', 'rooms', 'charges'] };
    if (propertyId !== undefined) body.property_id = propertyId;
    for (const [name, value] of Object.entries(parameters)) {
      const named = own ? own.names[name] : (bodyNames[name] ?? name);
      if (named !== undefined) body[named] = name === 'status' ? [value] : numbers.has(name) ? Number(value) : value;
    }
    return {
      method: 'POST',
      url: at(path ?? '/api/reservations/search'),
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
  };
  /** In the form that the partner offers, GET or POST. */
  const list = (parameters: ListParameters): Draft => {
    if (form === 'post') return search(parameters);
    const url = at(listPath ?? '/api/reservations');
    for (const [name, value] of Object.entries(own?.fixed ?? {})) url.searchParams.set(name, String(value));
    for (const [name, value] of Object.entries(parameters)) {
      const named = own ? own.names[name] : name;
      if (named !== undefined) url.searchParams.set(named, value);
    }
    return { method: 'GET', url, headers: {} };
  };
  const single = (id: string): Draft => {
    return { method: 'GET', url: at(`/api/reservations/${encodeURIComponent(id)}`), headers: {} };
  };
  return { list, search, single };
}

/** Fetches an access token with the client credentials; later requests use it. */
async function fetchToken(auth: CheckAuth & { type: 'oauth2' }, client: PoliteClient): Promise<Seen> {
  const { token_url, client_id, client_secret, scopes = [], audience } = auth;
  const form = new URLSearchParams({ ...auth.params, grant_type: 'client_credentials' });
  if (scopes.length > 0) form.set('scope', scopes.join(' '));
  if (audience !== undefined) form.set('audience', audience);
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  if (auth.client_auth === 'post') {
    form.set('client_id', client_id);
    form.set('client_secret', client_secret);
  } else {
    const pair = [client_id, client_secret].map(encodeURIComponent).join(':');
    headers.Authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const draft = { method: 'POST', url: new URL(token_url), headers, body: form.toString() } as const;
  const seen = await client.ask('an access token', draft, 'none');
  const { json } = seen;
  if (isObject(json) && typeof json.access_token === 'string') client.token = json.access_token;
  return seen;
}

const askedRows = 200;
const describedStatuses = ['confirmed', 'checked-in', 'checked-out', 'cancelled'];

type Gathered = { -readonly [Key in keyof Evidence]: Evidence[Key] };

/** Makes all requests that the rules need, about twenty. Rules about what is beyond the limit of requests are skipped. */
export async function gather(target: Target, client: PoliteClient): Promise<Evidence> {
  const { auth, from, to, paging } = target;
  const drafts = draftsFor(target);
  const week = { dateFrom: from, dateTo: to };
  const token = auth.type === 'oauth2' ? await fetchToken(auth, client) : undefined;
  const list = await client.ask('the list of a week', drafts.list({ ...week, ...wholePage(paging) }));
  const [missing, malformed, refused]: [Seen[], Seen[], Seen[]] = [[], [], []];
  const evidence: Gathered = {
    auth,
    range: { from, to },
    all: client.seen,
    token,
    list,
    listed: takeApart(list, target),
    missing,
    malformed,
    refused,
    byStatus: undefined,
    walk: undefined,
    single: undefined,
    unknown: undefined,
    search: undefined,
  };
  const ask = async (into: Seen[], what: string, parameters: ListParameters, credentials?: 'none' | 'wrong') =>
    into.push(await client.ask(`a list ${what}`, drafts.list(parameters), credentials));
  try {
    await ask(missing, 'without dateFrom', { dateTo: to });
    await ask(missing, 'without dateTo', { dateFrom: from });
    await ask(malformed, 'with a word for a date', { ...week, dateFrom: 'yesterday' });
    await ask(malformed, 'with a day that does not exist', { ...week, dateFrom: '2026-02-30' });
    if (auth.type !== 'none') {
      await ask(refused, 'without credentials', week, 'none');
      await ask(refused, 'with wrong credentials', week, 'wrong');
    }
    await lookCloser({ target, client, drafts, week }, evidence);
    if (target.own) return evidence;
    if (!bodyOnly(auth)) {
      const draft = drafts.single('innbound-check-no-such-id');
      evidence.unknown = await client.ask('a reservation that does not exist', draft);
    }
    if (target.form === 'post') return evidence;
    const answer = await client.ask('the same week by POST', drafts.search(week));
    evidence.search = { answer, listed: takeApart(answer, target) };
  } catch (error) {
    if (!(error instanceof OutOfRequests)) throw error;
  }
  return evidence;
}

interface Asking {
  readonly target: Target;
  readonly client: PoliteClient;
  readonly drafts: ReturnType<typeof draftsFor>;
  readonly week: ListParameters;
}

/** Requests that need an existing reservation. */
async function lookCloser({ target, client, drafts, week }: Asking, evidence: Gathered): Promise<void> {
  const { list, listed } = evidence;
  if (listed === undefined || listed.records.length === 0) return;
  const { own, paging } = target;
  if (own === undefined) {
    const asked = statusToAsk(listed.records);
    const draft = drafts.list({ ...week, status: asked, limit: '50' });
    const answer = await client.ask(`only those with status ${asked}`, draft);
    evidence.byStatus = { asked, answer, listed: takeApart(answer, target) };
    const inList = listed.records.find(({ id }) => typeof id === 'string' || typeof id === 'number');
    if (inList !== undefined && !bodyOnly(target.auth)) {
      const id = String(inList.id);
      evidence.single = { id, inList, answer: await client.ask('one reservation of the list', drafts.single(id)) };
    }
  }
  if (paging === 'none') return;
  const get = (purpose: string, where: ListParameters | URL) => {
    const draft = where instanceof URL ? ({ method: 'GET', url: where, headers: {} } as const) : undefined;
    return client.ask(purpose, draft ?? drafts.list({ ...week, ...(where as ListParameters) }));
  };
  evidence.walk = await walkPages({ target, list, listed, asked: askedRows, get });
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

/** A status that occurs in the list, in the description's spelling; confirmed if none does. */
function statusToAsk(records: readonly JsonObject[]): string {
  const spelled = (text: string) => text.toLowerCase().replaceAll('_', '-');
  const had = records.map(({ status }) => (typeof status === 'string' ? status : ''));
  const described = describedStatuses.find((status) => had.some((one) => spelled(one) === status));
  return had.find((one) => spelled(one) === described) ?? 'confirmed';
}
