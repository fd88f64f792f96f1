import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { isObject } from '../src/terms.ts';

/** Which shipped connectors use a key: a reference that names them shows what each key is for. */

interface Use {
  readonly key: string;
  readonly value: unknown;
  /** `pull.related[].ids`. */
  readonly path: string;
  /** The `type` of the mapping around the key, such as `cursor`. */
  readonly type: unknown;
}

const root = new URL('../', import.meta.url).pathname;

const systems = globSync('connectors/*/connector.yaml', { cwd: root })
  .sort()
  .map((file) => ({
    name: file.split('/')[1] ?? '',
    uses: [...usesIn(parse(readFileSync(`${root}${file}`, 'utf8'), { merge: true }), '')],
  }))
  .filter(({ name }) => !name.startsWith('reference'));

function* usesIn(value: unknown, path: string): Generator<Use> {
  if (Array.isArray(value)) for (const one of value) yield* usesIn(one, `${path}[]`);
  else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const at = path === '' ? key : `${path}.${key}`;
      yield { key, value: inner, path: at, type: value.type };
      yield* usesIn(inner, at);
    }
  }
}

const mostNamed = 3;

/** `(hostaway, mews and 4 more)`; empty if no system has such a use, or most have. */
export function systemsWith(wanted: (use: Use) => boolean): string {
  const names = systems.filter(({ uses }) => uses.some(wanted)).map(({ name }) => name);
  if (names.length === 0 || names.length > systems.length / 2) return '';
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return ` (${names.slice(0, mostNamed).join(', ')}${more})`;
}
