import { createContext, useContext } from 'react';
import { de } from './texts/de.ts';
import { en, type Texts } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { pt } from './texts/pt.ts';

/** One file per language. Another language is another file, and a line here and in `onboardingLanguages` of the service. */
export const languages: Readonly<Record<string, Texts>> = { en, pt, de, es, fr };

export const TextsContext = createContext({ t: en, language: 'en' });

export function useTexts() {
  const { t, language } = useContext(TextsContext);
  const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'long' });
  return {
    t,
    time: (text: string) => times.format(new Date(text)),
    day: (text: string) => days.format(new Date(text)),
  };
}

/** A sentence of the service: by its code in the page's language, otherwise as it came. */
export function said(t: Texts, code: string | null | undefined, english: string): string {
  return t.codes.sentences[code ?? ''] ?? english;
}

/** `{name}` is replaced; a sentence whose value is missing is left out. */
export function fill(text: string, values: Readonly<Record<string, string | number | undefined>>): string {
  return text
    .split(/(?<=[.!?]) +/)
    .filter((sentence) => [...sentence.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => (values[name] ?? '') !== ''))
    .join(' ')
    .replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}
