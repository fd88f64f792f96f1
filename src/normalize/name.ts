import { caseName, type NameField } from './name-case.ts';
import { longestName, type NameRegions, type NameRule, type Names, nameRules } from './name-rules.ts';
import { leadingTitles, placeholders, placeholdersAlone, trailingTitles } from './name-words.ts';
import { Recent } from './recent.ts';

interface NameChange {
  readonly field: NameField;
  readonly rule: NameRule;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

interface NameReading {
  readonly names: Names;
  readonly changes: readonly NameChange[];
}

/** Names in capitals come in capitals at every poll. An entry of usual length weighs 550 bytes, the whole some 18 MB. */
const readings = new Recent<NameReading>(32_768);
const unchanged: readonly NameChange[] = [];

/** Both names by all rules, and what each rule did. */
export function readNames(given: Names, regions: NameRegions): NameReading {
  const { first_name = '', last_name = '' } = given;
  const simple = isSimple(given.first_name) && isSimple(given.last_name);
  if (simple && isCapitalised(first_name) && isCapitalised(last_name)) return { names: given, changes: unchanged };
  if (first_name.length > longestName || last_name.length > longestName) return read(given, regions, simple);
  const presence = given.first_name === undefined ? 1 : given.last_name === undefined ? 2 : 3;
  const key = `${presence}${regions.nationality ?? ''}/${regions.country ?? ''}/${first_name}\n${last_name}`;
  const known = readings.get(key);
  if (known !== undefined) return known;
  const reading = read(given, regions, simple);
  readings.set(key, reading);
  return reading;
}

/** The rules repeat until none has anything left to do, so that a second reading changes nothing. Each shortens what it changes, so they come to an end. */
function read(given: Names, regions: NameRegions, simple: boolean): NameReading {
  const changes: NameChange[] = [];
  let names: Names = given;
  const put = (rule: NameRule, next: Names): void => {
    if (next.first_name === names.first_name && next.last_name === names.last_name) return;
    for (const field of ['first_name', 'last_name'] as const) {
      if (names[field] !== next[field]) changes.push({ field, rule, before: names[field], after: next[field] });
    }
    names = next;
  };
  for (let before: Names | undefined; !simple && before !== names; ) {
    before = names;
    for (const [rule, apply] of nameRules) put(rule, apply(names, regions));
  }
  put('name_case', { first_name: cased(names, 'first_name', regions), last_name: cased(names, 'last_name', regions) });
  return { names, changes };
}

function cased(names: Names, field: NameField, { nationality }: NameRegions): string | undefined {
  const name = names[field];
  if (name === undefined || name.length > longestName) return name;
  return caseName(name, field, { nationality, other: names[field === 'first_name' ? 'last_name' : 'first_name'] });
}

/** One word of plain letters that no rule but the one for case could touch: most names, told at the price of a test. */
function isSimple(name: string | undefined): boolean {
  return name === undefined || (plainWord.test(name) && !isKnownWord(name.toLowerCase()));
}
const plainWord = /^[A-Za-zÀ-ÖØ-öø-ÿ]{3,40}$/;
function isKnownWord(word: string): boolean {
  return (
    placeholders.has(word) ||
    placeholdersAlone.has(word) ||
    leadingTitles.has(word) ||
    trailingTitles.has(word) ||
    /^x+$/.test(word)
  );
}
function isCapitalised(name: string): boolean {
  return name === '' || capitalised.test(name);
}
const capitalised = /^[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+$/;
