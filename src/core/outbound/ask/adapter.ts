import { pathToFileURL } from 'node:url';
import { InnboundError } from '../../../errors.ts';
import { readLongXml, writeXml } from '../../../kit/xml.ts';
import type { Json } from '../../../terms.ts';
import type { Read } from './answer.ts';
import { type OpenRequest, type WireRequest, withHeaders } from './request.ts';

/**
 * An adapter is a module in the workspace whose default export turns a response's bytes into JSON, and whose export `request`, if there is
 * one, writes the body of a request. It runs with the permissions of the service: the operator installed it, so it is trusted code and
 * not data.
 */
interface Adapter {
  readonly default: (bytes: Uint8Array, about: { readonly contentType?: string }) => Json | Promise<Json>;
  readonly request?: (body: NonNullable<OpenRequest['body']>) => Written | Promise<Written>;
}

interface Written {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ours, which a connector names as `adapter: xml`. */
const xmlAdapter: Adapter = { default: readLongXml, request: (body) => ({ body: writeXml(body) }) };

/** What a request of the adapter says about its format, unless the connector does. */
export function usualHeaders(adapter: string | undefined, { body }: Pick<OpenRequest, 'body'>): OpenRequest['headers'] {
  if (adapter !== 'xml') return {};
  return { accept: 'text/xml, application/xml', ...(body && { 'content-type': 'text/xml; charset=utf-8' }) };
}

const loaded = new Map<string, Promise<Adapter>>();

function load(file: string): Promise<Adapter> {
  if (file === 'xml') return Promise.resolve(xmlAdapter);
  let adapter = loaded.get(file);
  if (adapter === undefined) {
    adapter = import(pathToFileURL(file).href).then((module: Partial<Adapter>) => {
      if (typeof module.default !== 'function') throw new TypeError('its default export is not a function');
      return module as Adapter;
    });
    loaded.set(file, adapter);
    // Not cached after a failure, so that a corrected module is loaded next time.
    adapter.catch(() => loaded.delete(file));
  }
  return adapter;
}

export async function readAdapted(file: string, bytes: Uint8Array, contentType: string | undefined): Promise<Read> {
  try {
    const adapter = await load(file);
    const body = await adapter.default(bytes, contentType === undefined ? {} : { contentType });
    // Keeps plain data only: undefined, functions and class instances are dropped here.
    return { kind: 'ok', body: JSON.parse(JSON.stringify(body)) as Json };
  } catch (error) {
    if (file !== 'xml' || !(error instanceof SyntaxError)) return { kind: 'unreadable', ...failureOf(error) };
    return {
      kind: 'unreadable',
      code: 'pull.xml',
      message: `the answer cannot be read as XML: ${error.message}`,
      passing: true,
    };
  }
}

/** The request with the body that the adapter writes; unchanged if it writes none. */
export async function writeAdapted(
  file: string,
  wire: WireRequest,
  body: NonNullable<OpenRequest['body']>,
): Promise<{ readonly kind: 'ok'; readonly wire: WireRequest } | ({ readonly kind: 'failed' } & AdapterFailure)> {
  try {
    const { request } = await load(file);
    if (request === undefined) return { kind: 'ok', wire };
    const written = await request(body);
    if (typeof written?.body !== 'string') throw new TypeError('its export `request` did not return a body of text');
    const headers = withHeaders(wire.headers, written.headers ?? {});
    return { kind: 'ok', wire: { ...wire, body: written.body, headers } };
  } catch (error) {
    return { kind: 'failed', ...failureOf(error) };
  }
}

type AdapterFailure = ReturnType<typeof failureOf>;

function failureOf(error: unknown) {
  if (error instanceof InnboundError) throw error;
  const said = (error instanceof Error ? error.message : String(error)).slice(0, 200);
  return { code: 'pull.adapter_failed', message: 'the adapter failed', said, passing: false } as const;
}
