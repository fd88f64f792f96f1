import { createContext, useContext, useEffect, useState } from 'react';
import type { Texts } from './texts/en.ts';

/** One file per language, loaded when it is read. Another language is another file, and a line here and in `onboardingLanguages` of the service. */
const files = {
  en: async () => (await import('./texts/en.ts')).en,
  pt: async () => (await import('./texts/pt.ts')).pt,
  de: async () => (await import('./texts/de.ts')).de,
  es: async () => (await import('./texts/es.ts')).es,
  fr: async () => (await import('./texts/fr.ts')).fr,
};
export const languages = { en: 'English', pt: 'Português', de: 'Deutsch', es: 'Español', fr: 'Français' };
type Language = keyof typeof files;

/** The texts of a language, English for one that is not known; undefined until they are here. */
export function useLanguage(language: string): Texts | undefined {
  const [loaded, setLoaded] = useState<{ readonly of: string; readonly texts: Texts }>();
  const of: Language = language in files ? (language as Language) : 'en';
  useEffect(() => {
    let isWanted = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () =>
      files[of]().then(
        (texts) => isWanted && setLoaded({ of, texts }),
        () => {
          timer = setTimeout(load, 2_000);
        },
      );
    void load();
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [of]);
  // While another language loads, the page stays in the one that it has.
  return loaded?.texts;
}

export const TextsContext = createContext<{ readonly t: Texts; readonly language: string } | undefined>(undefined);

export function useTexts() {
  const texts = useContext(TextsContext);
  if (texts === undefined) throw new Error('outside of the page');
  const { t, language } = texts;
  const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });
  const days = new Intl.DateTimeFormat(language, { dateStyle: 'long' });
  return {
    t,
    time: (text: string) => times.format(new Date(text)),
    day: (text: string) => days.format(new Date(text)),
  };
}

/** A sentence of the service: by its code in the page's language, otherwise as it came. */
export function phrase(t: Texts, code: string | null | undefined, english: string): string {
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
