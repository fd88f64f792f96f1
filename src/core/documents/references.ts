import { isObject } from '../../terms.ts';
import { closest } from '../canonical/closest.ts';
import type { DocumentKind } from './kinds.ts';
import { type Mistake, withSuggestion } from './mistake.ts';
import type { ParsedFile, SourceFile } from './parse.ts';
import { type Path, valueAt } from './path.ts';

/**
 * Mistakes between documents. Uses the documents as written, valid or not: the references of a document with a
 * mistake are still checked, and other documents may refer to it.
 */
export function crossMistakes(files: readonly ParsedFile[]): Mistake[] {
  const connectors = byName(files, 'connector');
  const destinations = byName(files, 'destination');
  const integrations = files.filter(({ source }) => source.kind === 'integration');
  return [
    ...duplicates(files),
    ...integrations.flatMap((file) => integrationMistakes(file, connectors, destinations)),
    ...files
      .filter(({ source }) => source.kind === 'workspace')
      .flatMap((file) => routeMistakes(file, byName(files, 'integration'))),
  ];
}

/** Integrations that alert routes name. */
function routeMistakes(file: ParsedFile, integrations: Targets): Mistake[] {
  const routes = valueAt(file.meant, ['alerts', 'routes']);
  return Object.keys(isObject(routes) ? routes : {}).flatMap((route) => {
    const names = valueAt(file.meant, ['alerts', 'routes', route, 'integrations']);
    return (Array.isArray(names) ? names : []).flatMap((name: unknown, i) => {
      if (typeof name !== 'string' || integrations.has(name)) return [];
      const path = ['alerts', 'routes', route, 'integrations', i];
      return [file.mistakeAt({ path, at: 'value', ...unknownName('integration', name, integrations) })];
    });
  });
}

type Targets = ReadonlyMap<string, ParsedFile>;

function byName(files: readonly ParsedFile[], kind: DocumentKind): Targets {
  const ofKind = files.filter(({ source }) => source.kind === kind);
  return new Map(ofKind.map((file) => [file.name ?? stemOf(file.source), file]));
}

function duplicates(files: readonly ParsedFile[]): Mistake[] {
  const first = new Map<string, ParsedFile>();
  return files.flatMap((file) => {
    if (file.name === undefined) return [];
    const { kind } = file.source;
    const id = `${kind} ${file.name}`;
    const earlier = first.getOrInsert(id, file);
    if (earlier === file) return [];
    const message =
      kind === 'workspace'
        ? `the workspace already has ${earlier.source.file}`
        : `${earlier.source.file} already has the ${kind} ${file.name}`;
    return [file.mistakeAt({ path: kind === 'workspace' ? [] : [kind], at: 'value', message })];
  });
}

function integrationMistakes(file: ParsedFile, connectors: Targets, destinations: Targets): Mistake[] {
  const mistakes: Mistake[] = [];
  const refer = (kind: DocumentKind, targets: Targets, path: Path): ParsedFile | undefined => {
    const name = valueAt(file.meant, path);
    if (typeof name !== 'string' || name === '') return undefined;
    const target = targets.get(name);
    if (target === undefined) mistakes.push(file.mistakeAt({ path, at: 'value', ...unknownName(kind, name, targets) }));
    return target;
  };
  const connector = refer('connector', connectors, ['connector']);
  const deliver = valueAt(file.meant, ['deliver']);
  for (const i of Array.isArray(deliver) ? deliver.keys() : []) refer('destination', destinations, ['deliver', i]);
  for (const [section, what] of [
    ['pull', 'polled'],
    ['stream', 'streamed'],
  ] as const) {
    const isUsed = valueAt(file.meant, [section]) !== undefined;
    if (!isUsed || connector?.meant === undefined || valueAt(connector.meant, [section]) !== undefined) continue;
    const message = `the connector ${connector.name} has no ${section} section, so it cannot be ${what}`;
    mistakes.push(file.mistakeAt({ path: [section], at: 'key', message }));
  }
  return mistakes;
}

function unknownName(kind: DocumentKind, name: string, targets: Targets): { message: string; suggestion?: string } {
  const names = [...targets.keys()].sort();
  const near = closest(name, names);
  const some = names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ');
  const listed = near !== undefined ? '' : names.length === 0 ? '; there is none' : `; there are ${some}`;
  return withSuggestion(`no ${kind} is named ${name}${listed}`, near);
}

/** The likely name of a document whose own name cannot be read. */
export function stemOf({ file }: SourceFile): string {
  return file
    .replace(/\/connector\.yaml$/, '')
    .replace(/^.*\//, '')
    .replace(/\.ya?ml$/, '');
}
