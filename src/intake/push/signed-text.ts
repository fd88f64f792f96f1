/** What a sender signs: one of the two usual texts, or a template with {timestamp}, {method}, {url}, {header.NAME} and {body}. */
export type SignedText = 'timestamp.body' | 'body' | (string & {});

/**
 * The text before and after the raw body; `partOf` gives the value of a placeholder. The template is divided first: a timestamp that reads
 * {body} is only a wrong timestamp.
 */
export function aroundBody(sign: SignedText, partOf: (name: string) => string): readonly [string, string] {
  if (sign === 'timestamp.body') return [`${partOf('timestamp')}.`, ''];
  if (sign === 'body') return ['', ''];
  const filled = (text: string) =>
    text.replace(/\{(timestamp|method|url|header\.[\w-]+)\}/g, (_, name: string) => partOf(name));
  const [before = '', after = ''] = sign.split('{body}').map(filled);
  return [before, after];
}
