import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { closest } from '../canonical/closest.ts';
import type { TextFinding } from './checked.ts';
import { type Path, pathText } from './path.ts';

/** A place outside the documents that holds a secret: ${env:NAME}, ${file:/path} or ${secret:name}. */
export interface Reference {
  readonly kind: 'env' | 'file' | 'secret';
  readonly target: string;
  readonly start: number;
  readonly end: number;
}

const opening = '${';
const kinds = ['env', 'file', 'secret'] as const;
const targets: Record<Reference['kind'], { form: RegExp; expected: string }> = {
  env: { form: /^[A-Za-z_]\w*$/, expected: 'the name of an environment variable' },
  file: { form: /^[^\0\n]+$/, expected: 'the path of a file' },
  secret: { form: /^[A-Za-z0-9][\w.-]{0,99}$/, expected: 'the name of a stored secret' },
};

/** The references in a text, in order, and the mistake in the first malformed one. */
export function findReferences(text: string): { references: Reference[]; finding?: TextFinding } {
  const references: Reference[] = [];
  for (let start = text.indexOf(opening); start !== -1; start = text.indexOf(opening, start)) {
    const close = text.indexOf('}', start);
    if (close === -1) return { references, finding: { message: 'this reference has no closing }', offset: start } };
    const inner = text.slice(start + opening.length, close);
    const colon = inner.indexOf(':');
    const word = colon === -1 ? inner : inner.slice(0, colon);
    const target = colon === -1 ? '' : inner.slice(colon + 1);
    const kind = kinds.find((known) => known === word);
    if (kind === undefined) return { references, finding: unknownKind(word, colon === -1 ? inner : target, start) };
    const { form, expected } = targets[kind];
    if (!form.test(target)) {
      return { references, finding: { message: `\${${kind}:…} needs ${expected} after the colon`, offset: start } };
    }
    references.push({ kind, target, start, end: close + 1 });
    start = close + 1;
  }
  return { references };
}

function unknownKind(word: string, target: string, offset: number): TextFinding {
  const message = `a reference is ${opening}env:NAME}, ${opening}file:/path} or ${opening}secret:name}`;
  // ${NAME} is how shells and other tools write a variable.
  const kind = word === target ? 'env' : closest(word, kinds);
  return { message, offset, suggestion: kind && `\${${kind}:${target}}` };
}

export function hasReference(text: string): boolean {
  return text.includes(opening);
}

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file, or undefined where it cannot be read. A relative path is for the caller to place under the workspace. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  readonly secret: (name: string) => Promise<string | undefined>;
}

/** Replaces the references to secrets in a document's body. */
export type Resolve = <Body>(body: Body) => Promise<Resolved<Body>>;

export type Resolved<Body> =
  | { readonly kind: 'ok'; readonly body: Body }
  /** Each with its path in the document, and as written: ${env:LISBON_TOKEN}. */
  | { readonly kind: 'missing'; readonly missing: readonly { readonly path: string; readonly reference: string }[] };

/**
 * A copy of the body with every reference replaced by its value, or the list of references that cannot be read. An empty value counts as
 * missing: an empty variable is more often an accident than a credential. A resolved value is not searched for references again.
 */
export async function resolveSecrets<Body>(body: Body, sources: SecretSources): Promise<Resolved<Body>> {
  const missing: { path: string; reference: string }[] = [];
  const known = new Map<string, Promise<string | undefined>>();
  const lookUp = (reference: Reference): Promise<string | undefined> => {
    const id = `${reference.kind}:${reference.target}`;
    const value = known.get(id) ?? read(reference, sources);
    known.set(id, value);
    return value;
  };
  const walk = async (value: unknown, path: Path): Promise<unknown> => {
    if (typeof value === 'string') return replace(value, path);
    if (Array.isArray(value)) return Promise.all(value.map((item, i) => walk(item, [...path, i])));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(
      async ([key, child]) => [key, await walk(child, [...path, key])] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  const replace = async (text: string, path: Path): Promise<string> => {
    let result = '';
    let end = 0;
    for (const reference of findReferences(text).references) {
      const value = await lookUp(reference);
      if (!value) missing.push({ path: pathText(path), reference: text.slice(reference.start, reference.end) });
      result += text.slice(end, reference.start) + (value ?? '');
      end = reference.end;
    }
    return result + text.slice(end);
  };
  const resolved = (await walk(body, [])) as Body;
  return missing.length === 0 ? { kind: 'ok', body: resolved } : { kind: 'missing', missing };
}

/** Variables that open the store itself: never a partner's credential. */
const ownVariables = new Set(['INNBOUND_KEY', 'INNBOUND_KEY_COMMAND', 'INNBOUND_PASSPHRASE']);

async function read({ kind, target }: Reference, { env, readFile, secret }: SecretSources) {
  if (kind === 'env') return Object.hasOwn(env, target) && !ownVariables.has(target) ? env[target] : undefined;
  // Editors and `echo` end a file with a line break, which is not part of the secret.
  return kind === 'file' ? (await readFile(target))?.replace(/\r?\n$/, '') : secret(target);
}

/**
 * Reads files for ${file:…}: only from the workspace, from the folders where platforms mount secrets, and from those that
 * INNBOUND_SECRET_FOLDERS names (separated as in PATH). Never from .innbound or from INNBOUND_KEY_FILE, which hold the key to all
 * stored secrets. The environment decides, not a document: documents can be edited through the API.
 */
export function secretFiles(
  workspaceDir: string,
  env: Readonly<Record<string, string | undefined>>,
): (file: string) => Promise<string | undefined> {
  const named = (env.INNBOUND_SECRET_FOLDERS ?? '').split(path.delimiter);
  const folders = [workspaceDir, '/run/secrets', '/var/run/secrets', env.CREDENTIALS_DIRECTORY ?? '', ...named];
  return async (file) => {
    try {
      // Links are followed first: what counts is where the content is.
      const target = await realpath(path.resolve(workspaceDir, file));
      if (target.split(path.sep).includes('.innbound')) return undefined;
      const { INNBOUND_KEY_FILE: key } = env;
      if (key && target === (await realpath(key).catch(() => undefined))) return undefined;
      for (const folder of folders) {
        if (folder !== '' && isInside(target, await realpath(folder).catch(() => undefined))) {
          return await readFile(target, 'utf8');
        }
      }
    } catch {}
    return undefined;
  };
}

function isInside(target: string, folder: string | undefined): boolean {
  return folder !== undefined && target.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}
