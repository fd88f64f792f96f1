import type { Texts } from './texts/en.ts';

/** Our names of fields as words: `guests.email_raw` is the e-mail of a guest, however it was written. */
export function fieldWords(name: string, { lists, fields }: Pick<Texts, 'lists' | 'fields'>): string {
  const [, list, field = name] = /^(guests|rooms|charges)(?:\[\d+\])?\.?(.*)$/.exec(name) ?? [];
  const plain = field.replace(/_raw$/, '');
  const word = fields[plain] ?? plain.replaceAll(/[._]/g, ' ');
  return [list && lists[list], word].filter(Boolean).join(': ');
}
