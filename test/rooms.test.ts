import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fromService } from '../console/build.ts';

/** Checks the imports of the service, its packages and the console against the tables in docs/contribute/rooms.md. */

const root = fileURLToPath(new URL('../src/', import.meta.url));

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}
interface Source {
  /** Counted from src/. */
  readonly file: string;
  readonly room: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const statement = /^\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?['"]([^'"]+)['"]/gm;
const dynamic = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

const places = ['**/*.ts', '../packages/*/src/**/*.ts', '../console/{build.ts,{src,partner}/**/*.{ts,tsx}}'];
const sources: Source[] = globSync(places, { cwd: root })
  .sort()
  .map((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    const imports = [
      ...[...text.matchAll(statement)].map((m) => ({ specifier: m[2] ?? '', typeOnly: m[1] !== undefined })),
      ...[...text.matchAll(dynamic)].map((m) => ({ specifier: m[1] ?? '', typeOnly: false })),
    ];
    return { file, room: roomOf(file), text, imports };
  });

/** The folder or file under its floor of src, with two parts for the stages of intake; or the package, or the console. */
function roomOf(file: string): string {
  // JSON without losing a digit: pure, and used by every room.
  if (file === 'kit/json.ts') return file;
  if (file.startsWith('operator/store/')) return 'operator/store';
  const parts = file.split(path.sep).filter((part) => part !== '..' && part !== 'core' && part !== 'operator');
  const isDivided = parts[0] === 'intake' || parts[0] === 'packages' || parts[1] === 'build.ts';
  return isDivided ? `${parts[0]}/${parts[1]}` : (parts[0] ?? '');
}

function target(from: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return path.relative(root, path.resolve(root, path.dirname(from.file), specifier));
}

const pure = new Set([
  'json-path',
  'shape',
  'canonical',
  'measures',
  'normalize',
  'persons',
  'transform',
  'reconcile',
  'onboard',
  'packages/suggest',
]);
/** What each room may import besides itself, from the tables in docs/contribute/rooms.md: rooms, and rooms of which it may use types only. */
interface Rule {
  readonly rooms: readonly string[];
  readonly types: readonly string[] | 'any';
}

function readRules(): ReadonlyMap<string, Rule> {
  const text = readFileSync(new URL('../docs/contribute/rooms.md', import.meta.url), 'utf8');
  const tables = text.split('\n| folder | job | may import |\n').slice(1);
  const rows = tables.flatMap((table) => [
    ...(table.split('\n\n')[0] ?? '').matchAll(/^\| (`[^|]+`) \|[^|]*\|([^|]*)\|$/gm),
  ]);
  const listed = (list: string) => list.split(/,| and /).flatMap((one) => one.trim() || []);
  const everywhere = ['terms.ts', 'errors.ts', 'errors', 'json-path', 'kit/json.ts'];
  return new Map(
    rows.flatMap(([, names = '', imports = '']) => {
      const [rooms = '', types = ''] = imports.split('; types of ');
      const isAny = types.trim() === 'every room';
      return [...names.matchAll(/`([\w/.-]+?)\/?`/g)].map(([, name = '']): [string, Rule] => {
        const always = name.startsWith('packages/') ? [] : everywhere;
        return [name, { rooms: [...always, ...listed(rooms)], types: isAny ? 'any' : listed(types) }];
      });
    }),
  );
}

const settings =
  /^core\/deliver\/(?:destinations\/(?:\w+\/settings|http\/operation)|(?:bus|lake|warehouse)\/settings)\.ts$/;

test('every room has a row in docs/contribute/rooms.md, and imports only what it says', () => {
  const rules = readRules();
  const broken: string[] = [];
  for (const source of sources) {
    const rule = rules.get(source.room);
    if (!rule) {
      broken.push(`${source.file}: the room ${source.room} has no row in the table of docs/contribute/rooms.md`);
      continue;
    }
    for (const { specifier, typeOnly } of source.imports) {
      const file = target(source, specifier);
      if (file === undefined) continue;
      const room = roomOf(file);
      const types = typeOnly && (rule.types === 'any' || rule.types.includes(room));
      if (room === source.room || rule.rooms.includes(room) || types) continue;
      // A destination's settings live in the destination's folder and are part of the documents' schema, in its vocabulary.
      if (room === 'documents' && settings.test(source.file)) continue;
      broken.push(`${source.file} imports ${file}: docs/contribute/rooms.md has what ${source.room} may import`);
    }
  }
  assert.deepEqual(broken, []);
});

test('what a booking passes through knows nothing of what people do with it, types included', () => {
  const broken = sources.flatMap((source) =>
    ['core', 'kit', 'errors'].some((floor) => source.file.startsWith(floor + path.sep))
      ? source.imports
          .map(({ specifier }) => target(source, specifier) ?? '')
          .filter((file) => /^(?:operator|runtime|composition)\b|^(?:service|main)\.ts/.test(file))
          .map((file) => `${source.file} imports ${file}`)
      : [],
  );
  assert.deepEqual(broken, []);
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

test('only the store, the private server and warehouse destinations send SQL', () => {
  const statement =
    /\.query[<(]|['"`]\s*(?:select\s[\s\S]+?\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|create\s+table)\s/i;
  const destinations = path.join('core', 'deliver', 'destinations');
  const warehouses = sources
    .filter(({ imports }) => imports.some(({ specifier }) => specifier.startsWith('../../warehouse/')))
    .map(({ file }) => path.dirname(file))
    .filter((folder) => folder.startsWith(destinations));
  const own = ['core/store', 'operator/store', 'operator/embedded-postgres', 'core/deliver/warehouse'];
  const places = [...own, path.join(destinations, 'postgres')];
  const senders = [...places, ...warehouses];
  const broken = sources.filter(
    ({ file, text }) =>
      !['..', ...senders].some((folder) => file.startsWith(folder + path.sep)) && statement.test(text),
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
    for (const file of targets(source)) if (roomOf(file) !== source.room) into.add(roomOf(file));
    rooms.set(source.room, into);
  }
  assert.deepEqual(circlesIn(rooms), []);
});

test('every import names an existing file', () => {
  const files = new Set(sources.map(({ file }) => file));
  const missing = sources.flatMap((source) =>
    source.imports
      .map(({ specifier }) => target(source, specifier))
      .filter((file) => file !== undefined && /\.tsx?$/.test(file) && !files.has(file))
      .map((file) => `${source.file} imports ${file}`),
  );
  assert.deepEqual(missing, []);
});

test('the console’s build knows the files of the service that the console imports', () => {
  const imported = sources
    .filter(({ room }) => room === 'console')
    .flatMap((source) => source.imports.flatMap(({ specifier }) => target(source, specifier) ?? []))
    .filter((file) => !file.startsWith('..'))
    .map((file) => `../src/${file}`);
  assert.deepEqual([...new Set(imported)].sort(), fromService.toSorted());
});
