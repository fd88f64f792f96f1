/** The fields in which APIs put their explanation of a failure, in the order of preference. */
const explaining = ['detail', 'message', 'error_description', 'error', 'title', 'reason', 'description', 'errors'];

/** The explanation in an answer: of JSON the fields that usually hold it, of anything else its text. Undefined if it has none. */
export function ownWords(answer: string): string | undefined {
  let whole: unknown = answer;
  try {
    whole = JSON.parse(answer);
  } catch {}
  return withoutTags(explanation(whole, 0) ?? '') || undefined;
}

/** A page repeats its title in its text. */
export const withoutTags = (text: string): string =>
  text.replace(/(?:<(style|script|title)\b.*?<\/\1>|<[^>]*>|\s)+/gis, ' ').trim();

function explanation(value: unknown, depth: number): string | undefined {
  if (depth > 4) return undefined;
  if (typeof value === 'string') return value.trim() || undefined;
  if (Array.isArray(value)) {
    const found = value.map((one) => explanation(one, depth + 1)).filter((one) => one !== undefined);
    return found.length === 0 ? undefined : [...new Set(found)].join('; ');
  }
  if (value === null || typeof value !== 'object') return undefined;
  for (const key of explaining) {
    const found = explanation((value as Readonly<Record<string, unknown>>)[key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
