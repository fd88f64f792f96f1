import { pathToFileURL } from 'node:url';
import { InnboundError } from '../../errors.ts';
import type { Json } from '../../terms.ts';
import type { Read } from './answer.ts';

/**
 * An adapter is a module in the workspace whose default export turns a response's bytes into JSON. It runs with the permissions of
 * the service: the operator installed it, so it is trusted code and not data.
 */
export type Adapter = (bytes: Uint8Array, about: { readonly contentType?: string }) => Json | Promise<Json>;

const loaded = new Map<string, Promise<Adapter>>();

function load(file: string): Promise<Adapter> {
  let adapter = loaded.get(file);
  if (adapter === undefined) {
    adapter = import(pathToFileURL(file).href).then((module: { default?: unknown }) => {
      if (typeof module.default !== 'function') throw new TypeError('its default export is not a function');
      return module.default as Adapter;
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
    const body = await adapter(bytes, contentType === undefined ? {} : { contentType });
    // Keeps plain data only: undefined, functions and class instances are dropped here.
    return { kind: 'ok', body: JSON.parse(JSON.stringify(body)) as Json };
  } catch (error) {
    if (error instanceof InnboundError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return {
      kind: 'unreadable',
      code: 'pull.adapter_failed',
      message: 'the adapter failed',
      said: message.slice(0, 200),
      passing: false,
    };
  }
}
