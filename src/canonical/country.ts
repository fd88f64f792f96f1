import countries from 'i18n-iso-countries/index.js';
import de from 'i18n-iso-countries/langs/de.json' with { type: 'json' };
import en from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import es from 'i18n-iso-countries/langs/es.json' with { type: 'json' };
import fr from 'i18n-iso-countries/langs/fr.json' with { type: 'json' };
import it from 'i18n-iso-countries/langs/it.json' with { type: 'json' };
import nl from 'i18n-iso-countries/langs/nl.json' with { type: 'json' };
import pt from 'i18n-iso-countries/langs/pt.json' with { type: 'json' };

/** Languages in which country names are recognised. */
export const countryLanguages = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pt'] as const;
export type CountryLanguage = (typeof countryLanguages)[number];

/** Codes that hotel systems use although ISO 3166 does not assign them. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['UK', 'GB'],
  ['EL', 'GR'],
]);

const alpha2: ReadonlySet<string> = new Set(Object.keys(countries.getAlpha2Codes()));
const alpha3: ReadonlyMap<string, string> = new Map(Object.entries(countries.getAlpha3Codes()));

type Names = { readonly countries: { readonly [code: string]: string | readonly string[] } };
const sources: Record<CountryLanguage, Names> = { en, de, es, fr, it, nl, pt };
const byLanguage = new Map<CountryLanguage, ReadonlyMap<string, string>>();

/** Built on first use: 250 names per language. */
function names(language: CountryLanguage): ReadonlyMap<string, string> {
  const built = byLanguage.get(language);
  if (built) return built;
  const map = new Map<string, string>();
  for (const [code, spellings] of Object.entries(sources[language].countries)) {
    for (const name of typeof spellings === 'string' ? [spellings] : spellings) map.set(foldName(name), code);
  }
  byLanguage.set(language, map);
  return map;
}

function foldName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/^the\s+/, '')
    .replace(/[^\p{L}]+/gu, ' ')
    .trim();
}

/** The alpha-2 code for an alpha-2 or alpha-3 code in any letter case, or for a country's name. */
export function toCountry(text: string, languages: readonly CountryLanguage[] = ['en']): string | undefined {
  if (alpha2.has(text)) return text;
  const upper = text.trim().toUpperCase();
  if (alpha2.has(upper)) return upper;
  const code = upper.length === 2 ? aliases.get(upper) : alpha3.get(upper);
  if (code !== undefined) return code;
  const folded = foldName(text);
  for (const language of languages) {
    const named = names(language).get(folded);
    if (named !== undefined) return named;
  }
  return undefined;
}
