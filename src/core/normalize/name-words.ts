/** Word lists of the name rules, in lower case and without dots. */

/** Titles only when written with a dot: without it they are names or parts of names (Sig, Ing). */
export const dottedTitles: ReadonlySet<string> = new Set([
  'sig',
  'fr',
  'ing',
  'mag',
  'dipl',
  'dipl-ing',
  'hon',
  'rev',
  'capt',
  'd',
]);

/** Titles that airline systems append to the given name (SMITH/JOHNMR). Not MS and DR: Williams and Alexandr end that way. */
export const gluedTitle = /^(\p{L}{3,}?)(MRS|MR|MISS|MSTR)$/u;

/** These are family names in some countries (Gast, Child), so they count as placeholders only if the other field has no name either. */
export const placeholdersAlone: ReadonlySet<string> = new Set(
  'adult child infant passenger name gast gäste invité ospite na'.split(' '),
);
/** Words that join two people in every country; others do so only where the language uses them. */
export const joiningWords: readonly string[] = ['and', 'und', 'et'];
const joiningByRegion: ReadonlyMap<string, string> = new Map(
  Object.entries({
    y: 'ES MX AR CO CL PE VE EC GT CU BO DO HN PY SV NI CR PA UY PR',
    e: 'PT BR IT AO MZ CV',
    en: 'NL BE SR',
    og: 'DK NO IS FO',
    och: 'SE',
    ve: 'TR',
    i: 'PL',
  }).flatMap(([word, regions]) => regions.split(' ').map((region) => [region, word] as const)),
);

export const localJoiningWords: ReadonlySet<string> = new Set(joiningByRegion.values());

export function joiningWordOf(region: string | undefined): string | undefined {
  return region === undefined ? undefined : joiningByRegion.get(region);
}

/** Particles of a family name, lower case before another word. */
export const particles: ReadonlySet<string> = new Set(
  `van von vom zu zum zur der den dem de het 't ’t 's ten ter te op af av da das do dos di del della dello dei degli dal
  dalla du des los las bin bint binti binte ibn ap`.split(/\s+/),
);
/** Lower case only after another particle (de la Cruz), or between two names (Ortega y Gasset). */
export const innerParticles: ReadonlySet<string> = new Set(['la', 'le', 'lo', 'el', 'in', 'aan', 'y', 'e', 'und']);
/** Particles inside given names: Maria do Carmo, María de los Ángeles. */
export const givenNameParticles: ReadonlySet<string> = new Set('de del da do dos das la los las di'.split(' '));
/** Lower case inside a hyphenated name. */
export const hyphenParticles: ReadonlySet<string> = new Set(
  'de du des la le les sur en von van der zu und da do dos'.split(' '),
);

/** Countries where these syllables are names, not particles (Van, Do, Le). */
export const regionsWithoutParticles: ReadonlySet<string> = new Set('VN KR CN TW HK MO KH LA TH'.split(' '));
/** Countries that capitalise every particle of a family name: De Luca, Di Stefano. */
export const regionsWithLargeParticles: ReadonlySet<string> = new Set(['IT', 'SM', 'PH']);
/** Countries that capitalise the first particle: Van den Berghe, De Smet; Te Kanawa. */
export const regionsWithLargeFirstParticle: ReadonlySet<string> = new Set(['BE', 'NZ']);
export const regionsWithMac: ReadonlySet<string> = new Set('GB IE US CA AU NZ ZA'.split(' '));

/** After these prefixes an apostrophe starts a capitalised name (O'Neill, Dell'Acqua); elsewhere it is a letter (Mu'min). */
export const apostrophePrefixes: ReadonlySet<string> = new Set(
  'o d l m n dell dall nell sull all sant degl'.split(' '),
);

/** Upper case at the end of a name of several words. Not VI and XI, which are given names in Vietnam and China. */
export const numeralSuffixes: ReadonlySet<string> = new Set(['ii', 'iii', 'iv', 'vii', 'viii']);

/** Mac names recognised whatever the guest's country. Macron, Macedo and Macek are not Scottish. */
export const macNames: ReadonlySet<string> = new Set(
  `macalister macallister macarthur macbeth macbride maccallum maccarthy maccormack macculloch macdermott macdiarmid macdonald macdonell
  macdougall macdowell macduff macfadyen macfarlane macgill macgillivray macgowan macgregor macinnes macintosh macintyre macisaac maciver
  mackinnon maclachlan maclaren maclaughlin maclean maclellan maclennan macleod macmahon macmillan macmurray macnab macnally macnamara
  macnaughton macneil macneill macniven macphail macpherson macqueen macrae macritchie macsween mactaggart mactavish macvicar`.split(
    /\s+/,
  ),
);
