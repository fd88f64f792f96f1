import { pathToFileURL } from 'node:url';
import { InnboundError } from '../../errors.ts';
import type { Json } from '../../terms.ts';
import type { Read } from './answer.ts';

/**
 * An adapter is a module of the workspace whose default export turns a response's bytes into JSON. It runs with the rights of
 * the service: it is code that the operator put there, like the service itself, and not data.
 */
export type Adapter = (bytes: Uint8Array, about: { readonly contentType?: string }) => Json | Promise<Json>;

const loaded = new Map<string, Promise<Adapter>>();

function load(file: string): Promise<Adapter> {
  let adapter = loaded.get(file);
  if (adapter === undefined) {
    adapter = import(pathToFileURL(file).href).then((module: { default?: unknown }) => {
      if (typeof module.default !== 'function') throw new TypeError('its default export is no function');
      return module.default as Adapter;
    });
    loaded.set(file, adapter);
    // A module that could not be loaded may be corrected and tried again.
    adapter.catch(() => loaded.delete(file));
  }
  return adapter;
}

export async function readAdapted(file: string, bytes: Uint8Array, contentType: string | undefined): Promise<Read> {
  try {
    const adapter = await load(file);
    const body = await adapter(bytes, contentType === undefined ? {} : { contentType });
    // What leaves an adapter is data: undefined, functions and class instances do not go further.
    return { kind: 'ok', body: JSON.parse(JSON.stringify(body)) as Json };
  } catch (error) {
    if (error instanceof InnboundError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return {
      kind: 'unreadable',
      code: 'pull.adapter_failed',
      message: `the adapter failed: ${message.slice(0, 200)}`,
      passing: false,
    };
  }
}
