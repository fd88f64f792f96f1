import { type Read, readAnswer } from '../../core/outbound/ask/answer.ts';
import { isObject, type Json } from '../../terms.ts';
import { withoutCards } from '../privacy/cards.ts';

/** Rows of a list that a person is shown, and that a mapping is proposed from. */
const mostRows = 200;
const mostLetters = 4 * 1024 * 1024;

/** A partner's answer without card numbers, read with each of its lists shortened; as text, whose length is known. */
export function readSample({
  bytes,
  contentType,
}: {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
}): { readonly kind: 'shortened'; readonly text: string } | Extract<Read, { kind: 'unreadable' }> {
  const { buffer, byteOffset, byteLength } = bytes;
  const read = readAnswer(withoutCards(Buffer.from(buffer, byteOffset, byteLength)).bytes, contentType);
  if (read.kind === 'unreadable') return read;
  const text = JSON.stringify(shortened(read.body));
  if (text.length <= mostLetters) return { kind: 'shortened', text };
  const message = `the answer has ${Math.ceil(text.length / 1024 / 1024)} MB beside the rows of its lists`;
  return { kind: 'unreadable', code: 'pull.too_large', message, passing: false };
}

function shortened(value: Json): Json {
  if (Array.isArray(value)) return value.slice(0, mostRows).map(shortened);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shortened(one ?? null)]));
}
