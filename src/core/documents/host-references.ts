import { isAbsolute, normalize } from 'node:path';
import type { z } from 'zod';
import { isObject } from '../../terms.ts';
import type { CheckResult } from './check.ts';
import { textsIn } from './checked.ts';
import { schemas } from './kinds.ts';
import { inOrder, type Problem } from './mistake.ts';
import { parseFile, type SourceFile } from './parse.ts';
import { type Path, pathText } from './path.ts';
import { machineIdentity } from './scalars.ts';
import { schemaAt, unwrap } from './schema-walk.ts';
import { findReferences } from './secret-reference.ts';

/**
 * References to the machine: ${env:…} and ${file:…}, the identity of the machine itself, and folders outside the workspace. Only somebody
 * with a shell on the machine may add one to a document (`innbound apply`): through the API an administrator could send the environment, a
 * file or a signature of the machine's role to their own address, or write into any folder of the service's account.
 */
export function hostReferences(body: unknown): string[] {
  return [...new Set([...references(body)].map(({ reference }) => reference))];
}

/** The check of an edited document, with a mistake for each host reference that the version in force does not have. */
export function refuseHostReferences(checked: CheckResult, edited: SourceFile, known: readonly string[]): CheckResult {
  const { meant, mistakeAt } = parseFile(edited);
  const added = [...references(meant)].filter(({ reference }) => !known.includes(reference));
  if (added.length === 0) return checked;
  const mistakes = added.map(({ path, offset, reference }) => {
    const instead = reference.startsWith('$')
      ? `store the value as a secret and refer to it as \${secret:name}`
      : 'the API sets only what lies in the workspace';
    const message = `${reference} can only be added with \`innbound apply\`; ${instead}`;
    return mistakeAt({ path, at: 'value', message, offset } satisfies Problem);
  });
  const { warnings } = checked;
  return {
    kind: 'invalid',
    warnings,
    mistakes: inOrder([...(checked.kind === 'invalid' ? checked.mistakes : []), ...mistakes]),
  };
}

/** The settings that name a folder or a file of the machine: their schema has the mark `folder`. */
export function foldersIn(body: unknown): { readonly text: string; readonly path: Path }[] {
  if (!isObject(body) || !('destination' in body || 'network' in body)) return [];
  const schema = schemas['destination' in body ? 'destination' : 'workspace'];
  return [...textsIn(body)].filter(({ path }) => {
    const found = schemaAt(schema, path, body);
    return found !== undefined && (unwrap(found) as z.ZodType).meta?.()?.folder === true;
  });
}

/** Outside the workspace, or where the workspace keeps its key and its database, also where the case of letters does not count. */
const leaves = (folder: string): boolean =>
  isAbsolute(folder) || /^(?:\.\.|\.innbound)(?:[\\/]|$)/i.test(normalize(folder.replace(/\p{Cf}/gu, '')));

/** A parameter of a PostgreSQL address that makes the driver read a file of the machine. */
function fileParameter(text: string): string | undefined {
  if (!/^postgres/i.test(text)) return undefined;
  // A parser of URLs drops tabs and line breaks.
  const names = new URLSearchParams(text.replace(/[\t\r\n]/g, '').replace(/^[^?]*\?/, '')).keys();
  return [...names].find((name) => ['sslcert', 'sslkey', 'sslrootcert'].includes(name));
}

/**
 * The setting in which a stored secret names a folder or a file that only somebody with a shell may name: `resolved` has its value. Other
 * references are checked where they are written.
 */
export function strayPath(written: object, resolved: object): string | undefined {
  const folders = new Set(foldersIn(written).map(({ path }) => pathText(path)));
  const values = new Map([...textsIn(resolved)].map(({ text, path }) => [pathText(path), text]));
  const isStray = (at: string, value = '') => (folders.has(at) && leaves(value)) || fileParameter(value) !== undefined;
  return [...textsIn(written)]
    .filter(({ text }) => findReferences(text).references.some(({ kind }) => kind === 'secret'))
    .map(({ path }) => pathText(path))
    .find((at) => isStray(at, values.get(at)));
}

function* references(body: unknown): Generator<{ path: Path; offset: number; reference: string }> {
  for (const { text, path } of foldersIn(body)) if (leaves(text)) yield { path, offset: 0, reference: text };
  for (const { text, path } of textsIn(body)) {
    const parameter = fileParameter(text);
    if (parameter !== undefined) yield { path, offset: 0, reference: `the parameter ${parameter}` };
    if (text === machineIdentity && path.at(-1) === 'credentials') yield { path, offset: 0, reference: text };
    for (const { kind, start, end } of findReferences(text).references) {
      if (kind !== 'secret') yield { path, offset: start, reference: text.slice(start, end) };
    }
  }
}
