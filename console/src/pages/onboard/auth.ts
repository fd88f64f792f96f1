import type { Schema } from '../../editor/completion.ts';
import { capital, words } from '../../parts/format.ts';

/** A form for each authentication method, or each way of paging, drawn from the document's JSON Schema. */
export interface AuthForm {
  /** The schema's title, such as `oauth2, client_credentials`. */
  readonly title: string;
  readonly description: string;
  /** Fields that the choice of the form decides. */
  readonly fixed: Readonly<Record<string, string>>;
  readonly fields: readonly AuthField[];
}

export interface AuthField {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly required: boolean;
  /** Stored as a secret; the document only refers to it. */
  readonly secret: boolean;
  readonly form: 'text' | 'choice' | 'switch' | 'list' | 'pairs';
  readonly choices: readonly string[];
  /** The default, as text; undefined if the field has none. */
  readonly usual: string | undefined;
  /** What a new document begins with; undefined if the schema has no example. */
  readonly first: string | undefined;
}

export function authForms(schema: Schema | undefined): AuthForm[] {
  const auth = schema?.properties?.pull?.properties?.auth;
  return (auth?.oneOf ?? []).flatMap((one) => one.oneOf ?? [one]).map(formOf);
}

export const pagingForms = (schema: Schema | undefined): AuthForm[] =>
  (schema?.properties?.pull?.properties?.pagination?.oneOf ?? []).map(formOf);

function formOf({ title = '', description = '', properties = {}, required = [] }: Schema): AuthForm {
  const entries = Object.entries(properties);
  const fixed = entries.filter(([, { const: only }]) => only !== undefined);
  return {
    title,
    description,
    fixed: Object.fromEntries(fixed.map(([name, { const: only }]) => [name, String(only)])),
    fields: entries
      .filter(([, { const: only }]) => only === undefined)
      .map(([name, field]) => fieldOf(name, field, required.includes(name)))
      .toSorted((one, other) => weight(other) - weight(one)),
  };
}

/** Required fields come first, then secrets. */
const weight = ({ required, secret }: AuthField): number => Number(required) * 2 + Number(!required && secret);

function fieldOf(name: string, field: Schema, required: boolean): AuthField {
  const { type, description = '', additionalProperties: values } = field;
  const form = field.enum
    ? 'choice'
    : type === 'boolean'
      ? 'switch'
      : type === 'array'
        ? 'list'
        : type === 'object'
          ? 'pairs'
          : 'text';
  return {
    name,
    label: labelOf(name),
    description: description.replaceAll('`', ''),
    required,
    secret: field.writeOnly === true || (typeof values === 'object' && values.writeOnly === true),
    form,
    choices: (field.enum ?? []).map(String),
    usual: usualText(field.default),
    first: usualText(field.examples?.[0]),
  };
}

const labelOf = (name: string): string =>
  capital(words(name))
    .replace(/\burl\b/, 'URL')
    .replace(/\bid\b/, 'ID')
    .replace('Pkce', 'PKCE');

function usualText(usual: unknown): string | undefined {
  if (usual === undefined) return undefined;
  if (Array.isArray(usual)) return usual.join(' ');
  if (typeof usual === 'object' && usual !== null) {
    return Object.entries(usual)
      .map(([key, value]) => `${key}: ${value}`)
      .join('\n');
  }
  return String(usual);
}

export interface WrittenAuth {
  /** The lines under `auth:`, without indentation. */
  readonly lines: readonly string[];
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

/** The form's values as document lines. Secret values become references, returned with the values to store. */
export function writeAuth(form: AuthForm, typed: Readonly<Record<string, string>>, brand: string): WrittenAuth {
  const lines = Object.entries(form.fixed).map(([name, value]) => `${name}: ${value}`);
  const secrets: { name: string; value: string }[] = [];
  const kept = (what: string, value: string): string => {
    const name = `${brand}-${what.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
    secrets.push({ name, value });
    return `"\${secret:${name}}"`;
  };
  for (const { name, form: kind, secret, usual } of form.fields) {
    const text = typed[name]?.trim() ?? '';
    if (text === '' || text === usual) continue;
    if (kind === 'pairs') {
      lines.push(`${name}:`);
      for (const [key, value] of pairsIn(text)) {
        lines.push(`  ${scalar(key)}: ${secret ? kept(`${name}-${key}`, value) : scalar(value)}`);
      }
    } else if (kind === 'list') {
      lines.push(
        `${name}: [${text
          .split(/[\s,]+/)
          .map((one) => JSON.stringify(one))
          .join(', ')}]`,
      );
    } else {
      lines.push(`${name}: ${secret ? kept(name, text) : kind === 'switch' ? text : scalar(text)}`);
    }
  }
  return { lines, secrets };
}

/** One `Name: value` per line. */
function pairsIn(text: string): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]];
  });
}

/** Unquoted only if YAML reads it back as the same text. */
export const scalar = (text: string): string =>
  /^[A-Za-z][\w./-]*(:\/\/[\w./:-]+)?$/.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : JSON.stringify(text);
