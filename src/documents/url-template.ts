import { checkedText } from './checked.ts';
import { hasReference } from './secret-reference.ts';

const placeholder = /\{[^{}]*\}/g;
const fromSettings = /\{with\.\w+\}/g;

/**
 * A URL that may hold placeholders; with letters in their place it must be a whole one. Host and port are fixed by the document: a
 * record, which the partner writes, must not choose where credentials and guest data go.
 */
export const urlTemplate = () =>
  checkedText('a URL', (text) => {
    if (hostFromRecord(text)) {
      return { message: 'the host must be written here or come from {with.NAME}: a record must not choose it' };
    }
    if (hasReference(text)) return undefined;
    const filled = text.replace(/^\{with\.\w+\}/, 'https://x.example').replace(placeholder, 'x');
    const url = URL.parse(filled);
    if (url !== null && /^https?:$/.test(url.protocol)) return undefined;
    return { message: 'must be an absolute URL that starts with https:// or http://' };
  }).meta({ credential: 'url' });

/** Whether a placeholder over the record stands before the path. */
function hostFromRecord(text: string): boolean {
  const settled = text.replace(fromSettings, 'x').replace(/\$\{[^{}]*\}/g, 'x');
  const authority = /^(?:[^:/?#{}]*:\/\/)?[^/?#]*/.exec(settled)?.[0] ?? '';
  return authority.includes('{');
}
