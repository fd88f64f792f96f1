/** The keys of an explanation, without case and separators: errorMessage is ERROR_MESSAGE. The first one with a value is used. */
const messageKeys =
  'message errormessage errordescription errortext errormsg msg detail title error errors fault faultstring description reason'.split(
    ' ',
  );

/** The explanation in an answer: of JSON the fields that usually hold it, of anything else its text. Undefined if it has none. */
export function ownWords(answer: string): string | undefined {
  let whole: unknown = answer;
  try {
    whole = JSON.parse(answer);
  } catch {}
  return withoutTags(messageIn(whole) ?? '') || undefined;
}

/** A page repeats its title in its text. */
export const withoutTags = (text: string): string =>
  text.replace(/(?:<(style|script|title)\b.*?<\/\1>|<[^>]*>|\s)+/gis, ' ').trim();

export function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (depth > 3 || typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const messages = value.slice(0, 10).flatMap((one) => messageIn(one, depth + 1) ?? []);
    return messages.length === 0 ? undefined : [...new Set(messages)].join('; ');
  }
  const named = new Map(Object.entries(value).map(([name, inner]) => [name.replace(/[_-]/g, '').toLowerCase(), inner]));
  for (const key of messageKeys) {
    const text = messageIn(named.get(key), depth + 1);
    if (text !== undefined) return text;
  }
  // response_message, or an error inside { request: … }.
  for (const [name, inner] of named) {
    const isInside = typeof inner === 'object' && /^(?:request|response|result|status)$/.test(name);
    const text = isInside || /message$|details$/.test(name) ? messageIn(inner, depth + 1) : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}
