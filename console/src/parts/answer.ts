import type { Json } from '../api/types.ts';

/** A destination's answer: its own explanation, if one is found, and the whole answer, parsed if it is JSON. */
export interface OwnWords {
  readonly words: string;
  readonly whole: Json;
}

/** The fields in which APIs put their explanation, in the order of preference. */
const explaining = ['detail', 'message', 'error_description', 'error', 'title', 'reason', 'description', 'errors'];
const longest = 300;

export function ownWords(answer: string | undefined): OwnWords | undefined {
  const text = answer?.trim();
  if (!text) return undefined;
  const whole = parsed(text);
  const words = typeof whole === 'string' ? whole : (explanation(whole, 0) ?? text);
  return { words: shortened(words), whole };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function explanation(value: Json, depth: number): string | undefined {
  if (depth > 4) return undefined;
  if (typeof value === 'string') return value.trim() || undefined;
  if (Array.isArray(value)) {
    const found = value.map((one) => explanation(one, depth + 1)).filter((one) => one !== undefined);
    return found.length === 0 ? undefined : [...new Set(found)].join('; ');
  }
  if (value === null || typeof value !== 'object') return undefined;
  for (const key of explaining) {
    const found = value[key] === undefined ? undefined : explanation(value[key], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shortened(text: string): string {
  const line = text
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > longest ? `${line.slice(0, longest)} …` : line;
}

/** "The destination answered 422." and its words as one sentence. */
export function withOwnWords(message: string, answer: string | undefined): string {
  const own = ownWords(answer);
  return own === undefined ? message : `${message.replace(/\.$/, '')}: ${own.words}`;
}
