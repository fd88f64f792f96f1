import { pathReader } from '../../json-path/read.ts';
import type { Json } from '../../terms.ts';

type Headers = Readonly<Record<string, string>>;

/** Reads a value of an answer: a path in its body, or header.NAME. */
export function answerReader(path: string): (body: Json, headers: Headers) => Json | undefined {
  const read = pathReader(path);
  if (!path.startsWith('header.')) return read;
  const name = path.slice('header.'.length).toLowerCase();
  // An answer may have a key of that name.
  return (body, headers) => headers[name] ?? read(body);
}
