import { type Path, pathText } from './path.ts';
import { findReferences, type Reference } from './secret-reference.ts';

export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file, or undefined where it cannot be read. A relative path is for the caller to place under the workspace. */
  readonly readFile: (path: string) => Promise<string | undefined>;
  readonly secret: (name: string) => Promise<string | undefined>;
}

export interface MissingSecret {
  /** The path of the reference in the document. */
  readonly path: string;
  /** As written: ${env:LISBON_TOKEN}. */
  readonly reference: string;
}

/** Replaces the references to secrets in a document's body. */
export type Resolve = <Body>(body: Body) => Promise<Resolved<Body>>;

export type Resolved<Body> =
  | { readonly kind: 'ok'; readonly body: Body }
  | { readonly kind: 'missing'; readonly missing: readonly MissingSecret[] };

/**
 * A copy of the body with every reference replaced by its value, or the list of references that cannot be read. An empty value counts as
 * missing: an empty variable is more often an accident than a credential. A resolved value is not searched for references again.
 */
export async function resolveSecrets<Body>(body: Body, sources: SecretSources): Promise<Resolved<Body>> {
  const missing: MissingSecret[] = [];
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

async function read(
  { kind, target }: Reference,
  { env, readFile, secret }: SecretSources,
): Promise<string | undefined> {
  if (kind === 'env') return Object.hasOwn(env, target) && !ownVariables.has(target) ? env[target] : undefined;
  // Editors and `echo` end a file with a line break, which is not part of the secret.
  return kind === 'file' ? (await readFile(target))?.replace(/\r?\n$/, '') : secret(target);
}
