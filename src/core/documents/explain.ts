import type { z } from 'zod';
import { closest } from '../canonical/closest.ts';
import { type Problem, withSuggestion } from './mistake.ts';
import { type Path, valueAt } from './path.ts';
import {
  discriminatorOf,
  keysOf,
  meantOption,
  meantSchema,
  optionsOf,
  type Schema,
  schemaAt,
  type TypeName,
  typeName,
  typeNames,
  unwrap,
  valuesOf,
} from './schema-walk.ts';

type Issue = z.core.$ZodIssue;

/** Marks an issue without its own message; schemas that set a message keep it. */
const wordless = '';

/** Every reason why a value does not match a schema, in words for the author of the YAML. */
export function explain(schema: z.ZodType, value: unknown): Problem[] {
  const { error } = schema.safeParse(value, { error: () => wordless });
  if (error === undefined) return [];
  const issues = error.issues.slice(0, mostProblems);
  const problems = withoutEchoes(issues.flatMap((issue) => explainIssue(schema, value, issue)).slice(0, mostProblems));
  // A value that does not match its schema is never accepted, even if we cannot explain the reason.
  return problems.length > 0 ? problems : [{ path: [], at: 'value', message: 'does not match the schema' }];
}

/** More than a person corrects at once. Each needs a search for the intended word. */
const mostProblems = 200;

function explainIssue(schema: z.ZodType, root: unknown, issue: Issue): Problem[] {
  const path = issue.path as Path;
  const value = valueAt(root, path);
  const here = schemaAt(schema, path, root);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, mostProblems).map((key) => unknownKey(here && meantSchema(here, value), path, key));
  if (value === undefined && path.length > 0 && issue.code !== 'custom') return [missing(here, path, issue)];
  if (value === null && issue.code !== 'custom') {
    return [{ path, at: 'value', message: `has no value: it must be ${expected(here)}; fill it in or remove the key` }];
  }
  if (issue.code === 'invalid_union') return unionIssue(here, path, value, issue);
  if (issue.code === 'invalid_key') {
    const message =
      issue.issues.map((inner) => inner.message).find((text) => text !== wordless) ??
      'is not a key that is allowed here';
    return [{ path, at: 'key', message }];
  }
  if (issue.code === 'invalid_value') return [{ path, at: 'value', ...oneOf(issue.values.map(String), value) }];
  if (issue.code === 'custom') {
    const { suggestion, offset } = (issue.params ?? {}) as { suggestion?: string; offset?: number };
    const said = issue.message === wordless ? 'is not allowed here' : issue.message;
    return [{ path, at: 'value', ...withSuggestion(said, suggestion), ...(offset === undefined ? {} : { offset }) }];
  }
  return [{ path, at: 'value', message: issue.message === wordless ? inWords(issue, here, value) : issue.message }];
}

function unknownKey(here: Schema | undefined, path: Path, key: string): Problem {
  const known = here === undefined ? [] : keysOf(here);
  const near = closest(key, known) ?? (here === undefined ? undefined : deeperKey(here, key));
  const listed = near === undefined && known.length > 0 ? `; known here: ${known.join(', ')}` : '';
  return { path: [...path, key], at: 'key', ...withSuggestion(`unknown key ${key}${listed}`, near) };
}

/** The correct word one level too high: `auth` beside `pull` means pull.auth. */
function deeperKey(here: Schema, key: string): string | undefined {
  const parent = keysOf(here).find((name) => {
    const child = schemaAt(here, [name], undefined);
    if (child === undefined) return false;
    const isPlain = optionsOf(child).length === 0 || discriminatorOf(unwrap(child)) !== undefined;
    return isPlain && keysOf(child).includes(key);
  });
  return parent === undefined ? undefined : `${parent}.${key}`;
}

function missing(here: Schema | undefined, path: Path, issue: Issue): Problem {
  const key = path.at(-1);
  const name = typeof key === 'number' ? `item ${key + 1}` : key;
  const options = (issue as { options?: readonly unknown[] }).options ?? [];
  const said = here === undefined ? undefined : descriptionOf(here);
  const what = options.length > 0 ? `one of ${options.join(', ')}` : said && lowerFirst(said);
  return { path, at: 'value', message: `${name} is missing${what ? `: ${what}` : ''}` };
}

function unionIssue(here: Schema | undefined, path: Path, value: unknown, issue: Issue): Problem[] {
  const options = (issue as { options?: readonly unknown[] }).options;
  if (options !== undefined) return [{ path, at: 'value', decides: true, ...oneOf(options.map(String), value) }];
  const union = here === undefined ? undefined : unwrap(here);
  const option = union === undefined ? undefined : meantOption(union, value);
  const hasParts = typeof value === 'object';
  if (option !== undefined && (hasParts || issue.message === wordless)) {
    return explain(option as z.ZodType, value).map((problem) => ({ ...problem, path: [...path, ...problem.path] }));
  }
  const message =
    issue.message === wordless ? `must be ${expected(here)}, not ${typeWords[typeName(value)]}` : issue.message;
  return [{ path, at: 'value', message }];
}

function oneOf(values: readonly string[], value: unknown): { message: string; suggestion?: string } {
  const message = values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`;
  return withSuggestion(message, typeof value === 'string' ? closest(value, values) : undefined);
}

const typeWords: Record<TypeName, string> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
  array: 'a list',
  object: 'a mapping of keys to values',
  undefined: 'nothing',
};

function expected(here: Schema | undefined): string {
  const words = [...new Set(here === undefined ? ['something else'] : expectedWords(here))];
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function expectedWords(schema: Schema): string[] {
  const values = valuesOf(schema);
  if (values.length > 0) return values;
  const discriminator = discriminatorOf(unwrap(schema));
  if (discriminator !== undefined) return [`a mapping with the key ${discriminator}`];
  const options = optionsOf(schema);
  return options.length > 0 ? options.flatMap(expectedWords) : typeNames(schema).map((name) => typeWords[name]);
}

function inWords(issue: Issue, here: Schema | undefined, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.expected === 'int') return 'must be a whole number';
      const hint =
        typeNames(here ?? ({} as Schema)).includes('string') && typeof value !== 'object' ? ': put it in quotes' : '';
      return `must be ${expected(here)}, not ${typeWords[typeName(value)]}${hint}`;
    }
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty';
      return issue.origin === 'array' ? `needs at least ${items(issue.minimum)}` : `must be at least ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
      return issue.origin === 'array' ? `may have at most ${items(issue.maximum)}` : `must be at most ${issue.maximum}`;
    default:
      return 'has the wrong form';
  }
}

function items(count: number | bigint): string {
  return Number(count) === 1 ? 'one item' : `${count} items`;
}

function descriptionOf(schema: Schema): string | undefined {
  return (schema as z.ZodType).description ?? (unwrap(schema) as z.ZodType).description;
}

function lowerFirst(sentence: string): string {
  const plain = sentence.replace(/\.$/, '');
  return /^[A-Z][a-z]/.test(plain) ? plain.charAt(0).toLowerCase() + plain.slice(1) : plain;
}

/** A misspelled key is one mistake: that its correct spelling is missing is not reported too. */
function withoutEchoes(problems: readonly Problem[]): Problem[] {
  const meant = new Set(
    problems.flatMap(({ at, path, suggestion }) =>
      at === 'key' && suggestion !== undefined
        ? [JSON.stringify([...path.slice(0, -1), ...suggestion.split('.')])]
        : [],
    ),
  );
  return problems.filter(({ at, path }) => at === 'key' || !meant.has(JSON.stringify(path)));
}
