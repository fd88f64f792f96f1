/** A refusal of the API, as RFC 9457 tells it. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  constructor(status: number, body: Record<string, unknown>) {
    const { detail, title, code, request_id: requestId } = body as Record<string, string | undefined>;
    super(detail ?? title ?? `The service answered ${status}.`);
    this.status = status;
    this.code = code ?? 'operate.unexpected';
    this.requestId = requestId;
    this.body = body;
  }
}

type Query = Readonly<Record<string, string | number | undefined>>;

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`/api/v1${path}`, {
    method,
    // Says that the console itself asks: a page of another site cannot send it.
    headers: { 'x-innbound-console': '1', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: Error) => {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { detail: 'The service cannot be reached. Is it running?', code: 'operate.unreachable' });
  });
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (!response.ok) throw new Problem(response.status, answer);
  return answer as T;
}

function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) =>
  call<T>('GET', withQuery(path, query), undefined, signal);
export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal) => call<T>('POST', path, body, signal);
export const put = <T>(path: string, body: unknown) => call<T>('PUT', path, body);
export const remove = <T>(path: string) => call<T>('DELETE', path);
/** One part of a path. */
export const part = encodeURIComponent;
