/**
 * Adds the packages that npm left out of package-lock.json: optional packages of other systems that the registry did not have.
 * Without these entries npm ci refuses the lockfile; with them it skips the packages of other systems. Then asks the registry for each hash
 * that is missing: npm checks what it installs against it.
 * Run it after npm install: `node_modules/.bin/node scripts/complete-lockfile.ts`. test/install/lockfile.test.ts says when. For
 * the site: `node_modules/.bin/node scripts/complete-lockfile.ts site/package-lock.json`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..', 'package-lock.json'));
const lockfile = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> };

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** Such packages are named after their system: binding-linux-arm64-musl. */
function suits(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[-/]/);
  const os = words.find((word) => systems.includes(word));
  const cpu = words.find((word) => processors.includes(word));
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : words.includes('gnu') ? 'glibc' : undefined;
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(libc === undefined ? {} : { libc: [libc] }),
    ...(os === undefined ? {} : { os: [os] }),
  };
}

const known = lockfile.packages;
const added: Record<string, Entry> = {};
for (const [, parent] of Object.entries(known)) {
  for (const [name, range] of Object.entries(parent.optionalDependencies ?? {})) {
    // Parts of one package that are released with it.
    const version = range === '*' ? (parent.version ?? '') : range;
    const place = `node_modules/${name}`;
    if (Object.keys(known).some((key) => key === place || key.endsWith(`/${place}`))) continue;
    if (!/^\d+\.\d+\.\d+[^ |<>=^~*]*$/.test(version))
      throw new Error(`${name} is required as ${version}, which is not a version`);
    added[place] = { version, ...suits(name), ...(parent.dev ? { dev: true } : {}), optional: true };
  }
}

function hashOf(name: string, version: string): string | undefined {
  try {
    const asked = ['view', `${name}@${version}`, 'dist.integrity'];
    return /^sha512-\S+$/m.exec(
      execFileSync('npm', asked, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    )?.[0];
  } catch {
    return undefined;
  }
}

/** With the hash of the registry, where it has the package. */
function hashed(place: string, { version, ...entry }: Entry): Entry {
  const [name] = place.split('node_modules/').slice(-1);
  if (version === undefined || entry.integrity !== undefined || entry.link || !name || name === place)
    return { ...(version !== undefined && { version }), ...entry };
  const integrity = hashOf(name, version);
  if (integrity === undefined) console.log(`${name}@${version} has no hash: this registry does not have it.`);
  return { version, ...(integrity !== undefined && { integrity }), ...entry };
}

const packages = Object.fromEntries(
  Object.entries({ ...known, ...added })
    .map(([place, entry]) => [place, hashed(place, entry)] as const)
    .sort(([a], [b]) => a.localeCompare(b, 'en')),
);
writeFileSync(file, `${JSON.stringify({ ...lockfile, packages }, null, 2)}\n`);
console.log(`${Object.keys(added).length} added.`);
