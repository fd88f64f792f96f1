import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fromService } from '../console/build.ts';

/** Checks the imports against the rules in ARCHITECTURE.md, "Rooms". */

const root = fileURLToPath(new URL('../src/', import.meta.url));

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}
interface Source {
  readonly file: string;
  readonly room: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const statement = /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"]+)['"]/gm;
const dynamic = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

const sources: Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') || file.endsWith('.tsx'))
  .map((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const imports = [
      ...[...text.matchAll(statement)].map((m) => ({ specifier: m[2] ?? '', typeOnly: m[1] !== undefined })),
      ...[...text.matchAll(dynamic)].map((m) => ({ specifier: m[1] ?? '', typeOnly: false })),
    ];
    return { file, room: roomOf(file), text, imports };
  });

/** The folder under src (pull, push and stream of intake are separate rooms); files directly under src are rooms by name. */
function roomOf(file: string): string {
  const parts = file.split(path.sep);
  return parts[0] === 'intake' ? `intake/${parts[1]}` : (parts[0] ?? '');
}

function target(from: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return path.normalize(path.join(path.dirname(from.file), specifier));
}

const pure = new Set([
  'json-path',
  'shape',
  'canonical',
  'normalize',
  'persons',
  'transform',
  'reconcile',
  'suggest',
  'outbound',
]);
/** What each room may import besides itself, from the table in ARCHITECTURE.md: rooms, and rooms of which it may use types only. */
interface Rule {
  readonly rooms: readonly string[];
  readonly types: readonly string[] | 'any';
}

function readRules(): ReadonlyMap<string, Rule> {
  const text = readFileSync(new URL('../ARCHITECTURE.md', import.meta.url), 'utf8');
  const table = text.split('\n| folder | job | may import |\n')[1]?.split('\n\n')[0] ?? '';
  const rows = [...table.matchAll(/^\| (`[^|]+`) \|[^|]*\|([^|]*)\|$/gm)];
  const listed = (list: string) => list.split(/,| and /).flatMap((one) => one.trim() || []);
  const everywhere = ['terms.ts', 'errors.ts', 'errors', 'json-path'];
  return new Map(
    rows.flatMap(([, names = '', imports = '']) => {
      const [rooms = '', types = ''] = imports.split('; types of ');
      const isAny = types.trim() === 'every room';
      const rule: Rule = { rooms: [...everywhere, ...listed(rooms)], types: isAny ? 'any' : listed(types) };
      return [...names.matchAll(/`([\w/.-]+?)\/?`/g)].map(([, name = '']) => [name, rule] as const);
    }),
  );
}

const settings = /^deliver\/(?:destinations\/(?:\w+\/settings|http\/operation)|lake\/settings)\.ts$/;

test('every room has a row in ARCHITECTURE.md, and imports only what it says', () => {
  const rules = readRules();
  const broken: string[] = [];
  for (const source of sources) {
    const rule = rules.get(source.room);
    if (!rule) {
      broken.push(`${source.file}: the room ${source.room} has no row in the table of ARCHITECTURE.md`);
      continue;
    }
    for (const { specifier, typeOnly } of source.imports) {
      const file = target(source, specifier);
      if (file === undefined || file.startsWith('..')) continue;
      const room = roomOf(file);
      const types = typeOnly && (rule.types === 'any' || rule.types.includes(room));
      if (room === source.room || rule.rooms.includes(room) || types) continue;
      // A destination's settings live in the destination's folder and are part of the documents' schema, in its vocabulary.
      if (room === 'documents' && settings.test(source.file)) continue;
      broken.push(`${source.file} imports ${file}: ARCHITECTURE.md, "Rooms", has what ${source.room} may import`);
    }
  }
  assert.deepEqual(broken, []);
});

test('packages import nothing of the service, except the demo, and only the command line imports them', () => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const importsOf = (folder: string) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) =>
        [...readFileSync(path.join(root, folder, file), 'utf8').matchAll(statement)]
          .filter(([, , specifier]) => specifier?.startsWith('.'))
          .map(([, , specifier = '']) => path.join(folder, path.dirname(file), specifier)),
      );
  const outside = (folder: string, ...others: readonly string[]) =>
    importsOf(folder).filter((file) => ![`${folder}/`, ...others].some((place) => file.startsWith(place)));
  assert.deepEqual(outside('packages/sender/src'), []);
  assert.deepEqual(outside('packages/receiver/src'), []);
  assert.deepEqual(outside('packages/partner-kit/src', 'packages/sender/src/index.ts'), []);
  const kit = ['packages/partner-kit/src/simulate/index.ts', 'packages/partner-kit/src/terminal/ended.ts'];
  assert.deepEqual(outside('packages/demo/src', 'src/', ...kit), []);
  const inPackages = sources.filter(({ room, text }) => room !== 'cli' && text.includes('/packages/'));
  assert.deepEqual(
    inPackages.map(({ file }) => file),
    [],
  );
});

test('pure rooms use no node modules, clock, network, process or randomness', () => {
  const forbidden = /\b(?:process\.|Date\.now|Math\.random|fetch\(|performance\.|setTimeout|setInterval|new Date\(\))/;
  const broken: string[] = [];
  for (const source of sources) {
    if (!pure.has(source.room)) continue;
    for (const { specifier } of source.imports) {
      if (specifier.startsWith('node:')) broken.push(`${source.file} imports ${specifier}`);
    }
    const code = source.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const found = forbidden.exec(code);
    if (found) broken.push(`${source.file} uses ${found[0]}`);
  }
  assert.deepEqual(broken, []);
});

test('only the store, the private server and the warehouse destination send statements to PostgreSQL', () => {
  const statement =
    /\.query[<(]|['"`]\s*(?:select\s[\s\S]+?\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+table)\s/i;
  const senders = ['store', 'embedded-postgres', path.join('deliver', 'destinations', 'postgres')];
  const broken = sources.filter(
    ({ file, text }) => !senders.some((folder) => file.startsWith(folder + path.sep)) && statement.test(text),
  );
  assert.deepEqual(
    broken.map(({ file }) => file),
    [],
  );
});

/** Circles of a graph, each as the places on it. */
function circlesIn(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (place: string, trail: readonly string[]): void => {
    if (state.get(place) === 'done') return;
    if (state.get(place) === 'open') {
      circles.push([...trail.slice(trail.indexOf(place)), place].join(' -> '));
      return;
    }
    state.set(place, 'open');
    for (const next of graph.get(place) ?? []) visit(next, [...trail, place]);
    state.set(place, 'done');
  };
  for (const place of graph.keys()) visit(place, []);
  return circles;
}

test('neither files nor rooms import each other in circles, types included', () => {
  const targets = (source: Source) => source.imports.flatMap(({ specifier }) => target(source, specifier) ?? []);
  assert.deepEqual(circlesIn(new Map(sources.map((source) => [source.file, targets(source)]))), []);
  const rooms = new Map<string, Set<string>>();
  for (const source of sources) {
    const into = rooms.get(source.room) ?? new Set<string>();
    for (const file of targets(source))
      if (!file.startsWith('..') && roomOf(file) !== source.room) into.add(roomOf(file));
    rooms.set(source.room, into);
  }
  assert.deepEqual(circlesIn(rooms), []);
});

test('every import names an existing file', () => {
  const files = new Set(sources.map(({ file }) => file));
  const missing = sources.flatMap((source) =>
    source.imports
      .map(({ specifier }) => target(source, specifier))
      .filter((file) => file?.endsWith('.ts') && !file.startsWith('..') && !files.has(file))
      .map((file) => `${source.file} imports ${file}`),
  );
  assert.deepEqual(missing, []);
});

test('the console’s build knows the files of the service that the console imports', () => {
  const folder = fileURLToPath(new URL('../console/', import.meta.url));
  const files = readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' });
  const imported = files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const at = path.join(folder, 'src', file);
      const found = [...readFileSync(at, 'utf8').matchAll(statement)].map((m) => m[2] ?? '');
      return found.filter((one) => one.startsWith('.')).map((one) => path.join(path.dirname(at), one));
    })
    .map((file) => path.relative(folder, file))
    .filter((file) => file.startsWith('..'));
  assert.deepEqual([...new Set(imported)].sort(), fromService.toSorted());
});
