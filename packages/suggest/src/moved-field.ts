import { isObject, type Json } from '../../../src/terms.ts';

/** A payload, and the value that the mapping no longer finds in it. */
export interface LostValue {
  readonly payload: Json;
  readonly value: Json;
}

/** Where most payloads have the lost value now, such as guests.mail. */
export function movedTo(lost: readonly LostValue[]): string | undefined {
  const times = new Map<string, number>();
  for (const { payload, value } of lost) {
    const wanted = plain(value);
    if (wanted === '') continue;
    for (const path of new Set(placesOf(payload, wanted))) times.set(path, (times.get(path) ?? 0) + 1);
  }
  const [best] = [...times].sort((a, b) => b[1] - a[1]);
  return best !== undefined && best[1] * 2 > lost.length ? best[0] : undefined;
}

function placesOf(value: Json, wanted: string, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => placesOf(item, wanted, path));
  if (isObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => placesOf(item, wanted, path === '' ? key : `${path}.${key}`));
  }
  const text = plain(value);
  // A phone may lack its country code.
  const isPhone = text.length >= 7 && /^\d+$/.test(text) && wanted.endsWith(text.replace(/^0+/, ''));
  return path !== '' && (text === wanted || isPhone) ? [path] : [];
}

const plain = (value: Json): string =>
  typeof value === 'object'
    ? ''
    : String(value)
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}@]/gu, '');
