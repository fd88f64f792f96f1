import { ownWords as explanation, withoutTags } from '../../../src/kit/own-words.ts';
import type { Json } from '../api/types.ts';

/** A destination's answer: its own explanation, if one is found, and the whole answer, parsed if it is JSON. */
export interface OwnWords {
  readonly words: string;
  readonly whole: Json;
}

const longest = 300;

export function ownWords(answer: string | undefined): OwnWords | undefined {
  const text = answer?.trim();
  if (!text) return undefined;
  const words = explanation(text) ?? withoutTags(text);
  return { words: words.length > longest ? `${words.slice(0, longest)} …` : words, whole: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** "The destination answered 422." and its words as one sentence. They replace those that everyone may read. */
export function withOwnWords(message: string, answer: string | undefined): string {
  const own = ownWords(answer);
  return own === undefined ? message : `${message.replace(/(: .*)?\.$/s, '')}: ${own.words}`;
}
