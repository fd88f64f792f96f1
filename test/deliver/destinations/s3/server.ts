/** A bucket as S3 documents it, with conditional writes: PutObject, GetObject, HeadObject, ListObjectsV2 with pages. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface StoredObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly modified: Date;
  readonly headers: IncomingHttpHeaders;
}

export interface S3Server {
  readonly url: string;
  readonly port: number;
  readonly objects: Map<string, StoredObject>;
  readonly requests: { readonly method: string; readonly host: string; readonly path: string }[];
  /** Awaited after a PUT has been received and before it takes effect. */
  hold: ((key: string) => Promise<void>) | undefined;
  /** An error to answer with, such as 503 SlowDown. */
  fault: { readonly status: number; readonly code: string } | undefined;
  /** Whether a page of a listing says how to ask for the next one; some services do not. */
  namesNextPage: boolean;
  close(): Promise<void>;
}

const bucket = 'lake';
const secret = 'secret-access-key-1';
const pageSize = 3;

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** Signature Version 4 as a server checks it: from the decoded path and query, and the bytes of the body. */
function isSigned({ method, headers }: IncomingMessage, url: URL, body: Buffer): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/(\d{8}\/eu-west-1\/s3)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const [, scope = '', names = '', signature] = form.exec(headers.authorization ?? '') ?? [];
  if (headers['x-amz-content-sha256'] !== sha256(body)) return false;
  const path = url.pathname.split('/').map((part) => encoded(decodeURIComponent(part)));
  const query = [...url.searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const signed = names.split(';').map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, path.join('/'), query.join('&'), signed.join(''), names, sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], `${scope}/aws4_request`, sha256(canonical)].join('\n');
  const key = [...scope.split('/'), 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, toSign).toString('hex') === signature;
}

export async function s3Server(): Promise<S3Server> {
  const objects = new Map<string, StoredObject>();
  const sockets = new Set<Socket>();
  const requests: { method: string; host: string; path: string }[] = [];
  const state: Pick<S3Server, 'hold' | 'fault' | 'namesNextPage'> = {
    hold: undefined,
    fault: undefined,
    namesNextPage: true,
  };

  const refuse = (response: ServerResponse, status: number, code: string): void => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
  };

  async function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const url = new URL(request.url ?? '', 'http://s3');
    const host = request.headers.host ?? '';
    requests.push({ method: request.method ?? '', host, path: url.pathname });
    if (!isSigned(request, url, body)) return refuse(response, 403, 'SignatureDoesNotMatch');
    if (state.fault) return refuse(response, state.fault.status, state.fault.code);
    const path = decodeURIComponent(url.pathname);
    const key = host.startsWith(`${bucket}.`) ? path.slice(1) : path.slice(`/${bucket}/`.length);
    if (request.method === 'GET' && url.searchParams.get('list-type') === '2') return list(url.searchParams, response);
    const found = objects.get(key);
    if (request.method === 'PUT') {
      await state.hold?.(key);
      const now = objects.get(key);
      const { 'if-match': match, 'if-none-match': none } = request.headers;
      if (none === '*' && now !== undefined) return refuse(response, 412, 'PreconditionFailed');
      if (match !== undefined && now === undefined) return refuse(response, 404, 'NoSuchKey');
      if (match !== undefined && match !== now?.etag) return refuse(response, 412, 'PreconditionFailed');
      const etag = `"${createHash('md5').update(body).digest('hex')}"`;
      objects.set(key, { bytes: body, etag, modified: new Date(), headers: request.headers });
      response.writeHead(200, { etag }).end();
      return;
    }
    if (found === undefined) return refuse(response, 404, 'NoSuchKey');
    response.writeHead(200, { etag: found.etag, 'content-length': found.bytes.length });
    response.end(request.method === 'HEAD' ? undefined : found.bytes);
  }

  function list(query: URLSearchParams, response: ServerResponse): void {
    const after = query.get('continuation-token') ?? '';
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort();
    const page = keys.slice(0, pageSize);
    const contents = page.map((key) => {
      const { bytes, etag, modified } = objects.get(key) as StoredObject;
      return `<Contents><Key>${key}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${bytes.length}</Size></Contents>`;
    });
    const more = keys.length > pageSize;
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(
      `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${more && state.namesNextPage ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''}${contents.join('')}</ListBucketResult>`,
    );
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void answer(request, response, Buffer.concat(chunks)));
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    port,
    objects,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  });
}
