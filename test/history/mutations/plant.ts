/** Imported first by a program whose source should have a bug: changes the file as it is loaded. */
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutation } from './mutate.ts';

const mutation = JSON.parse(process.env.PLANTED ?? 'null') as Mutation | null;
const root = path.join(import.meta.dirname, '..', '..', '..');
const { href } = pathToFileURL(path.join(root, mutation?.file ?? 'no file'));

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (mutation === null || url !== href) return loaded;
    const source = String(loaded.source);
    if (!source.includes(mutation.find)) throw new Error(`${mutation.name} has no place in what Node loads`);
    return { ...loaded, source: source.replace(mutation.find, () => mutation.replace) };
  },
});
