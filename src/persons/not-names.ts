/** Words that are not names of persons, in lower case and without dots. */

const menTitles = 'mr mister mstr herr hr monsieur sr señor senhor signor signore dott dhr'.split(' ');
const womenTitles =
  'mrs ms miss madam frau fru mme mlle madame mademoiselle sra srta señora señorita senhora sigra signora signorina dottssa dottoressa doña mevr mevrouw mw'.split(
    ' ',
  );

/** Titles before a name. */
export const leadingTitles: ReadonlySet<string> = new Set([...menTitles, ...womenTitles, 'mx', 'dr', 'prof']);

/** Titles that reservation systems put after a name. Not Sr, which means Senior there. */
export const trailingTitles: ReadonlySet<string> = new Set(
  'mr mrs ms miss mx mstr dr prof mme mlle chd inf'.split(' '),
);

const sexes: ReadonlyMap<string, string> = new Map([
  ...[...menTitles, 'sig', 'sir', 'lord'].map((title) => [title, 'man'] as const),
  ...[...womenTitles, 'fr', 'dame', 'lady'].map((title) => [title, 'woman'] as const),
]);

/** The one title of this text that tells a man from a woman, as it is written; undefined for Herr und Frau. */
export function sexedTitle(text: string): { readonly title: string; readonly sex: string } | undefined {
  const [first, ...others] = text
    .replace(/[.,()]/g, '')
    .split(/[\s/]+/)
    .flatMap((title) => {
      const sex = sexes.get(title.toLowerCase());
      return sex === undefined ? [] : [{ title, sex }];
    });
  return others.every(({ sex }) => sex === first?.sex) ? first : undefined;
}

/** Typed when no name is known. */
export const placeholders: ReadonlySet<string> = new Set(
  `tba|tbc|tbd|tbn|tb a|to be advised|to be announced|to be confirmed|n/a|n a|not available|not provided|not given|not known|no name|noname|
  first name|last name|firstname|lastname|surname|unknown|unnamed|anonymous|null|nil|none|undefined|guest|guests|hotel guest|new guest|
  main guest|guest name|room guest|pax|walk in|walk-in|walkin|huesped|huésped|invitado|
  hóspede|hospede|unbekannt|inconnu|desconocido|desconhecido|sconosciuto|onbekend`
    .split('|')
    .map((word) => word.trim()),
);
/** Guest 2, Adult 1, Pax #3, and letters repeated in place of a name. */
export const numberedPlaceholder =
  /^(?:(?:guest|adult|child|infant|pax|passenger|gast|person)[ ._-]*#?\d{1,3}|x{2,}(?: x{2,})*|\?+)$/;
