import { leadingTitles, numberedPlaceholder, placeholders, trailingTitles } from '../persons/fold.ts';
import { type CaseContext, caseName, type NameField } from './name-case.ts';
import { longestName, type NameRegions, type NameRule, type Names, nameRules } from './name-rules.ts';
import { joiningWords, localJoiningWords, placeholdersAlone } from './name-words.ts';

interface NameChange {
  readonly field: NameField;
  readonly rule: NameRule;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const fields = ['first_name', 'last_name'] as const;

const ruleWords: ReadonlySet<string> = new Set([
  ...placeholders,
  ...placeholdersAlone,
  ...leadingTitles,
  ...trailingTitles,
  ...joiningWords,
  ...localJoiningWords,
]);
const latinWords = /^[A-Za-zÀ-ÖØ-öø-ſ\d]{2,}(?:[ -][A-Za-zÀ-ÖØ-öø-ſ\d]{2,})*$/;

const separator = /[ -]/;

/** Words that no rule acts on but the one of letter case, as most names are. The rules take tens of microseconds a guest (bench shape). */
export function isPlain(name: string | undefined): boolean {
  if (name === undefined) return true;
  if (name.length > longestName || !latinWords.test(name)) return false;
  const lower = name.toLowerCase();
  const words = separator.test(lower) ? [lower, ...lower.split(separator)] : [lower];
  return !words.some((word) => ruleWords.has(word) || numberedPlaceholder.test(word));
}

/**
 * Applies every rule to both names and lists what each rule changed. The rules are repeated until none changes anything, so that
 * normalizing twice equals once. Each shortens the text, so this ends.
 */
export function readNames(given: Names, regions: NameRegions): { names: Names; changes: readonly NameChange[] } {
  const changes: NameChange[] = [];
  let names: Names = given;
  const put = (rule: NameRule, next: Names): void => {
    const at = changes.length;
    for (const field of fields) {
      const before = names[field];
      const after = next[field];
      if (before !== after) changes.push({ field, rule, before, after });
    }
    if (changes.length > at) names = next;
  };
  const isUsual = isPlain(given.first_name) && isPlain(given.last_name);
  for (let before: Names | undefined; before !== names && !isUsual; ) {
    before = names;
    for (const [rule, apply] of nameRules) put(rule, apply(names, regions));
  }
  const { nationality } = regions;
  put('name_case', {
    first_name: cased(names.first_name, 'first_name', { nationality, other: names.last_name }),
    last_name: cased(names.last_name, 'last_name', { nationality, other: names.first_name }),
  });
  return { names, changes };
}

function cased(name: string | undefined, field: NameField, context: CaseContext): string | undefined {
  return name === undefined || name.length > longestName ? name : caseName(name, field, context);
}
