import { closest } from '../canonical/closest.ts';
import type { Finding } from './checked.ts';

/** A place outside the documents that holds a secret: ${env:NAME}, ${file:/path} or ${secret:name}. */
export interface Reference {
  readonly kind: 'env' | 'file' | 'secret';
  readonly target: string;
  readonly start: number;
  readonly end: number;
}

const opening = '${';
const kinds = ['env', 'file', 'secret'] as const;
const targets: Record<Reference['kind'], { form: RegExp; expected: string }> = {
  env: { form: /^[A-Za-z_]\w*$/, expected: 'the name of an environment variable' },
  file: { form: /^[^\0\n]+$/, expected: 'the path of a file' },
  secret: { form: /^[A-Za-z0-9][\w.-]{0,99}$/, expected: 'the name of a stored secret' },
};

/** The references in a text, in order, and the mistake in the first malformed one. */
export function findReferences(text: string): { references: Reference[]; finding?: Finding } {
  const references: Reference[] = [];
  for (let start = text.indexOf(opening); start !== -1; start = text.indexOf(opening, start)) {
    const close = text.indexOf('}', start);
    if (close === -1) return { references, finding: { message: 'this reference has no closing }', offset: start } };
    const inner = text.slice(start + opening.length, close);
    const colon = inner.indexOf(':');
    const word = colon === -1 ? inner : inner.slice(0, colon);
    const target = colon === -1 ? '' : inner.slice(colon + 1);
    const kind = kinds.find((known) => known === word);
    if (kind === undefined) return { references, finding: unknownKind(word, colon === -1 ? inner : target, start) };
    const { form, expected } = targets[kind];
    if (!form.test(target)) {
      return { references, finding: { message: `\${${kind}:…} needs ${expected} after the colon`, offset: start } };
    }
    references.push({ kind, target, start, end: close + 1 });
    start = close + 1;
  }
  return { references };
}

function unknownKind(word: string, target: string, offset: number): Finding {
  const message = `a reference is ${opening}env:NAME}, ${opening}file:/path} or ${opening}secret:name}`;
  // ${NAME} is how shells and other tools write a variable.
  const kind = word === target ? 'env' : closest(word, kinds);
  return kind === undefined ? { message, offset } : { message, offset, suggestion: `\${${kind}:${target}}` };
}

export function hasReference(text: string): boolean {
  return text.includes(opening);
}
