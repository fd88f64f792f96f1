import type { DocumentKind } from './kinds.ts';
import { type Mistake, withSuggestion } from './mistake.ts';
import type { ParsedFile } from './parse.ts';
import { valueAt } from './path.ts';
import { closest } from './suggest.ts';

/**
 * What is wrong between documents. Works on what was written, not on what met its schema: a document with a mistake of its
 * own still has its references checked, and is still there to be referred to.
 */
export function crossMistakes(files: readonly ParsedFile[]): Mistake[] {
  return [
    ...duplicates(files),
    ...files.flatMap((file) => (file.source.kind === 'integration' ? integrationMistakes(file, files) : [])),
  ];
}

function duplicates(files: readonly ParsedFile[]): Mistake[] {
  const first = new Map<string, ParsedFile>();
  return files.flatMap((file) => {
    if (file.name === undefined) return [];
    const { kind } = file.source;
    const id = `${kind} ${file.name}`;
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, file);
      return [];
    }
    const message =
      kind === 'workspace'
        ? `the workspace already has ${earlier.source.file}`
        : `${earlier.source.file} already has the ${kind} ${file.name}`;
    return [file.mistakeAt({ path: kind === 'workspace' ? [] : [kind], at: 'value', message })];
  });
}

function integrationMistakes(file: ParsedFile, files: readonly ParsedFile[]): Mistake[] {
  const mistakes: Mistake[] = [];
  const refer = (kind: DocumentKind, path: (string | number)[]): ParsedFile | undefined => {
    const name = valueAt(file.meant, path);
    if (typeof name !== 'string' || name === '') return undefined;
    const ofKind = files.filter(({ source }) => source.kind === kind);
    const target = ofKind.find((other) => (other.name ?? stemOf(other)) === name);
    if (target === undefined) {
      const names = ofKind.flatMap((other) => other.name ?? []);
      const near = closest(name, names);
      const listed =
        near !== undefined ? '' : names.length === 0 ? `; there is none` : `; there are ${names.sort().join(', ')}`;
      mistakes.push(
        file.mistakeAt({ path, at: 'value', ...withSuggestion(`no ${kind} is named ${name}${listed}`, near) }),
      );
    }
    return target;
  };
  const connector = refer('connector', ['connector']);
  const deliver = valueAt(file.meant, ['deliver']);
  for (const i of Array.isArray(deliver) ? deliver.keys() : []) refer('destination', ['deliver', i]);
  const polls = valueAt(file.meant, ['pull']) !== undefined;
  if (polls && connector?.meant !== undefined && valueAt(connector.meant, ['pull']) === undefined) {
    mistakes.push(
      file.mistakeAt({
        path: ['pull'],
        at: 'key',
        message: `the connector ${connector.name} has no pull section: it cannot be polled`,
      }),
    );
  }
  return mistakes;
}

/** The name that a file without a readable one most likely has. */
function stemOf({ source }: ParsedFile): string {
  return source.file
    .replace(/\/connector\.yaml$/, '')
    .replace(/^.*\//, '')
    .replace(/\.ya?ml$/, '');
}
