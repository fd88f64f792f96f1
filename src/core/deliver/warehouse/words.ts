import { isVocabulary } from '../../../kit/foreign-text.ts';
import { listViews, tables } from './tables.ts';

const own: ReadonlySet<string> = new Set(
  [...Object.values(tables), ...listViews].flatMap(({ name, columns }) =>
    [name, ...columns.map((column) => column.name)].flatMap((one) => [one, ...one.split('_')]),
  ),
);

/** A word that a message of an engine may show: of errors in general, or the name of a table or column of ours. */
export const ownWord = (word: string): boolean => isVocabulary(word) || own.has(word.toLowerCase());
