/** What a sender signs: one of the two usual texts, or a template with {timestamp} and {body}. */
export type SignedText = 'timestamp.body' | 'body' | (string & {});

/** The text before and after the raw body. The template is divided first: a timestamp that reads {body} is only a wrong timestamp. */
export function aroundBody(sign: SignedText, timestamp: string): readonly [string, string] {
  if (sign === 'timestamp.body') return [`${timestamp}.`, ''];
  if (sign === 'body') return ['', ''];
  const [before = '', after = ''] = sign.split('{body}').map((text) => text.replaceAll('{timestamp}', () => timestamp));
  return [before, after];
}
