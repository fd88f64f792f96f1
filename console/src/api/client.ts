import { type Operations, places } from './operations.ts';

export type OperationId = keyof Operations;
export type Input<Id extends OperationId> = Operations[Id]['input'];
export type Answer<Id extends OperationId> = Operations[Id]['answer'];

/** An error answer of the API, in the form of RFC 9457. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  constructor(status: number, body: Record<string, unknown>) {
    const text = (key: string) => (typeof body[key] === 'string' ? body[key] : undefined);
    super(text('detail') ?? text('title') ?? `The service answered ${status}.`);
    this.status = status;
    this.code = text('code') ?? 'operate.unexpected';
    this.requestId = text('request_id');
    this.body = body;
  }
}

/** Calls one operation. Its id decides the types of its input and its answer. */
export async function call<Id extends OperationId>(
  id: Id,
  ...[input = {}, signal]: Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, signal?: AbortSignal]
    : [input: Input<Id>, signal?: AbortSignal]
): Promise<Answer<Id>> {
  const { method, url, body } = requestOf(id, input);
  const response = await fetch(url, {
    method,
    // A page of another site cannot set this header, so it cannot act for the signed-in user.
    headers: { 'x-innbound-console': '1', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  }).catch((error: Error) => {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { detail: 'The service cannot be reached. Is it running?', code: 'operate.unreachable' });
  });
  const answer: unknown = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, answer as Record<string, unknown>);
  // The only cast: the service checks its answers against the same description that these types are generated from.
  return answer as Answer<Id>;
}

/** Puts each value in its place: into the path where the path names it, else into the query or the body. */
function requestOf(id: OperationId, input: object): { method: string; url: string; body?: string } {
  const [method, path] = places[id];
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const url = `/api/v1${filled}`;
  if (method === 'POST' || method === 'PUT') return { method, url, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams([...rest].map(([name, value]) => [name, String(value)])).toString();
  return { method, url: query === '' ? url : `${url}?${query}` };
}
