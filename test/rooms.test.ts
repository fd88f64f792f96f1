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
const everywhere = ['terms.ts', 'errors.ts', 'errors', 'json-path'];
/** What each room may import besides itself. `types` only as types: the ports that a room declares. */
const allowed: Record<string, { rooms: readonly string[]; types?: readonly string[] | 'any' }> = {
  'terms.ts': { rooms: [] },
  'errors.ts': { rooms: ['errors'] },
  errors: { rooms: [] },
  'json-path': { rooms: ['terms.ts'] },
  kit: { rooms: ['terms.ts'] },
  canonical: { rooms: everywhere },
  shape: { rooms: [...everywhere, 'canonical'] },
  normalize: { rooms: [...everywhere, 'canonical'] },
  transform: { rooms: [...everywhere, 'canonical'] },
  persons: { rooms: [...everywhere, 'canonical', 'normalize'] },
  reconcile: { rooms: [...everywhere, 'canonical', 'persons'] },
  suggest: { rooms: [...everywhere, 'canonical'] },
  documents: { rooms: [...everywhere, 'canonical', 'kit'] },
  outbound: { rooms: everywhere },
  'intake/pull': { rooms: [...everywhere, 'canonical', 'kit', 'outbound'], types: ['documents', 'reconcile', 'shape'] },
  'intake/push': { rooms: [...everywhere, 'canonical', 'persons', 'reconcile', 'kit'], types: ['shape'] },
  'intake/stream': { rooms: [...everywhere, 'kit', 'intake/push'] },
  deliver: { rooms: [...everywhere, 'canonical', 'persons', 'kit', 'outbound'] },
  watch: { rooms: [...everywhere, 'kit'] },
  privacy: { rooms: [...everywhere, 'canonical', 'persons', 'kit'], types: ['reconcile'] },
  store: { rooms: [...everywhere, 'canonical', 'persons', 'reconcile', 'kit', 'outbound'], types: 'any' },
  mcp: { rooms: [...everywhere, 'kit'] },
  'embedded-postgres': { rooms: everywhere },
  api: { rooms: [...everywhere, 'canonical', 'kit', 'intake/push'], types: 'any' },
};
/** Where rooms are joined: the path, the wiring of a process, the commands. */
const joining = new Set(['pipeline.ts', 'pipeline', 'runtime', 'service.ts', 'main.ts', 'operations', 'wiring', 'cli']);

const settings = /^deliver\/(?:destinations\/(?:\w+\/settings|http\/operation)|lake\/settings)\.ts$/;

test('rooms import only what the house allows', () => {
  const broken: string[] = [];
  for (const source of sources) {
    if (joining.has(source.room)) continue;
    const rule = allowed[source.room];
    if (!rule) {
      broken.push(`${source.file}: a room without a rule; add it to the table and to ARCHITECTURE.md`);
      continue;
    }
    for (const { specifier, typeOnly } of source.imports) {
      const file = target(source, specifier);
      if (file === undefined) continue;
      const room = roomOf(file);
      const types = typeOnly && (rule.types === 'any' || rule.types?.includes(room));
      if (room === source.room || rule.rooms.includes(room) || types) continue;
      // A destination's settings live in the destination's folder and are part of the documents' schema, in its vocabulary.
      if (source.room === 'documents' && settings.test(file)) continue;
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

test('there are no import cycles', () => {
  const graph = new Map(
    sources.map((source) => [
      source.file,
      source.imports.flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : (target(source, specifier) ?? []))),
    ]),
  );
  const state = new Map<string, 'open' | 'done'>();
  const circles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      circles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
      return;
    }
    state.set(file, 'open');
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
    state.set(file, 'done');
  };
  for (const { file } of sources) visit(file, []);
  assert.deepEqual(circles, []);
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
