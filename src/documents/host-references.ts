import type { CheckResult } from './check.ts';
import { textsIn } from './checked.ts';
import { inOrder, type Problem } from './mistake.ts';
import { parseFile, type SourceFile } from './parse.ts';
import type { Path } from './path.ts';
import { machineIdentity } from './scalars.ts';
import { findReferences } from './secret-reference.ts';

/**
 * References that are read from the machine: ${env:…} and ${file:…}, and the identity of the machine itself. Only somebody with a shell on
 * the machine may add one to a document (`innbound apply`): through the API an administrator could send the environment, a file or a
 * signature of the machine's role to their own address.
 */
export function hostReferences(body: unknown): string[] {
  return [...new Set([...found(body)].map(({ reference }) => reference))];
}

/** The check of an edited document, with a mistake for each host reference that the version in force does not have. */
export function refuseHostReferences(checked: CheckResult, edited: SourceFile, known: readonly string[]): CheckResult {
  const { meant, mistakeAt } = parseFile(edited);
  const added = [...found(meant)].filter(({ reference }) => !known.includes(reference));
  if (added.length === 0) return checked;
  const mistakes = added.map(({ path, offset, reference }) => {
    const message = `${reference} can only be added with \`innbound apply\`; store the value as a secret and refer to it as \${secret:name}`;
    return mistakeAt({ path, at: 'value', message, offset } satisfies Problem);
  });
  const { warnings } = checked;
  return {
    kind: 'invalid',
    warnings,
    mistakes: inOrder([...(checked.kind === 'invalid' ? checked.mistakes : []), ...mistakes]),
  };
}

function* found(body: unknown): Generator<{ path: Path; offset: number; reference: string }> {
  for (const { text, path } of textsIn(body)) {
    if (text === machineIdentity && path.at(-1) === 'credentials') yield { path, offset: 0, reference: text };
    for (const { kind, start, end } of findReferences(text).references) {
      if (kind !== 'secret') yield { path, offset: start, reference: text.slice(start, end) };
    }
  }
}
