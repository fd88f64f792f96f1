import { isAbsolute, normalize } from 'node:path';
import type { z } from 'zod';
import { isObject } from '../terms.ts';
import type { CheckResult } from './check.ts';
import { textsIn } from './checked.ts';
import { schemas } from './kinds.ts';
import { inOrder, type Problem } from './mistake.ts';
import { parseFile, type SourceFile } from './parse.ts';
import type { Path } from './path.ts';
import { machineIdentity } from './scalars.ts';
import { childSchema, meantSchema } from './schema-walk.ts';
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

/** The settings of a destination that name a folder of the machine: their schema has the mark `folder`. */
function foldersOf(body: unknown): string[] {
  const meant = isObject(body) && 'destination' in body ? meantSchema(schemas.destination, body) : undefined;
  if (meant === undefined) return [];
  return Object.keys(body as object).filter(
    (key) => (childSchema(meant, key) as z.ZodType | undefined)?.meta?.()?.folder,
  );
}

/** Outside the workspace, or where the workspace keeps its key and its database. */
const leaves = (folder: string): boolean =>
  isAbsolute(folder) || /^(?:\.\.|\.innbound)(?:[\\/]|$)/.test(normalize(folder));

function* references(body: unknown): Generator<{ path: Path; offset: number; reference: string }> {
  const folders = foldersOf(body);
  for (const { text, path } of textsIn(body)) {
    if (path.length === 1 && folders.includes(String(path[0])) && leaves(text))
      yield { path, offset: 0, reference: text };
    if (path.at(-2) === 'credentials' && path.at(-1) === 'file' && leaves(text))
      yield { path, offset: 0, reference: text };
    if (text === machineIdentity && path.at(-1) === 'credentials') yield { path, offset: 0, reference: text };
    for (const { kind, start, end } of findReferences(text).references) {
      if (kind !== 'secret') yield { path, offset: start, reference: text.slice(start, end) };
    }
  }
}
