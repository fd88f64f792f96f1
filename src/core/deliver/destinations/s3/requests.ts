import { Readable } from 'node:stream';
import type { Http } from '../../../outbound/http.ts';

/** A request as the S3 client makes it. */
interface ClientRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface ClientAnswer {
  readonly response: {
    readonly statusCode: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Readable;
  };
}

/** Thrown where there is no answer; the client passes it on. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Sends the requests of the S3 client through ours: public addresses only, the proxy, the certificates and the deadlines of the service. */
export function requestHandler(http: Http, deadlineMs: number) {
  return {
    async handle(request: ClientRequest, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<ClientAnswer> {
      // Our client does not support `Expect: 100-continue`.
      const { expect: _, ...headers } = request.headers;
      const { body } = request;
      if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) {
        throw new TypeError('a body that is neither text nor bytes');
      }
      const answer = await http.request({
        method: request.method,
        url: urlOf(request),
        headers,
        ...(body !== undefined && { body }),
        deadlineMs,
        idleMs: deadlineMs,
        // A listing is a GET with a query.
        expects: request.method === 'GET' && request.query?.['list-type'] === undefined ? 'file' : 'short',
        ...(abortSignal && { signal: abortSignal }),
      });
      if (answer.kind === 'failed') throw new NoAnswer(answer.reason, answer.message);
      const { status: statusCode, headers: answered, bytes } = answer;
      return { response: { statusCode, headers: answered, body: Readable.from([bytes]) } };
    },
    destroy() {},
  };
}

function urlOf({ protocol, hostname, port, path, query = {} }: ClientRequest): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) =>
      one === null ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(String(one))}`,
    ),
  );
  const host = port === undefined ? hostname : `${hostname}:${port}`;
  return `${protocol}//${host}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}
