import schema from '../../schemas/integration.json';
import type { Schema } from '../src/editor/completion.ts';
import { type AuthForm, authForms } from '../src/pages/onboard/auth.ts';

/** A form for each kind of credentials that the service supports, drawn from its schema. */
export const forms: readonly AuthForm[] = authForms(schema as unknown as Schema);

type Value = string | boolean | readonly string[] | Readonly<Record<string, string>>;

/** The credentials as the service's documents write them. */
export function authValue(form: AuthForm, typed: Readonly<Record<string, string>>): Readonly<Record<string, Value>> {
  const values: Record<string, Value> = { ...form.fixed };
  for (const { name, form: kind, usual } of form.fields) {
    const text = typed[name]?.trim() ?? '';
    if (text === '' || text === usual) continue;
    if (kind === 'pairs') values[name] = Object.fromEntries(pairsIn(text));
    else if (kind === 'list') values[name] = text.split(/[\s,]+/);
    else values[name] = kind === 'switch' ? text === 'true' : text;
  }
  return values;
}

const pairsIn = (text: string): [string, string][] =>
  text.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
