/**
 * Every step of a release except publishing, as CI and the release workflow run it:
 *
 *   npm run release:check -- [--tag vX.Y.Z] [--out FOLDER]
 *
 * A step whose program is missing (docker) or whose packages cannot be fetched is skipped and says so; in CI (CI=true) a missing registry
 * is a failure.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { buildPackages, published, root } from '../packages/build.ts';
import { billOfMaterials } from '../sbom.ts';
import { beforeRelease } from '../test-files.ts';
import { checkChart } from './chart.ts';
import { findHelm } from './helm.ts';
import { versions } from './versions.ts';

const { values } = parseArgs({ options: { tag: { type: 'string' }, out: { type: 'string' } } });
const scratch = mkdtempSync(path.join(os.tmpdir(), 'innbound-release-'));
const out = path.resolve(values.out ?? path.join(scratch, 'release'));
const version = versions().get('package.json') ?? '';

class Skipped extends Error {}

function run(program: string, args: readonly string[], cwd = root): string {
  const done = spawnSync(program, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (done.status !== 0)
    throw new Error(`${program} ${args.join(' ')}: ${done.error?.message ?? done.stderr.slice(-2_000)}`);
  return done.stdout;
}

const isThere = (program: string): boolean => spawnSync(program, ['version'], { stdio: 'ignore' }).status === 0;

/** A step that needs the registry: without one it is skipped, except in CI. */
function fetched(args: readonly string[], cwd: string): void {
  try {
    run('npm', args, cwd);
  } catch (error) {
    const isAway = /\b(?:EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED)\b/.test(String(error));
    if (process.env.CI || !isAway) throw error;
    throw new Skipped('the registry did not answer');
  }
}

function emptyFolder(name: string): string {
  const folder = path.join(scratch, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
  return folder;
}

/** The machine that an ELF program is for. */
function machineOf(file: string): number {
  const header = Buffer.alloc(20);
  readSync(openSync(file, 'r'), header, 0, 20, 0);
  return header.readUInt16LE(18);
}

const tarball = (name: string) => path.join(out, `${name}-${version}.tgz`);

const steps: readonly (readonly [string, () => void | Promise<void>])[] = [
  [
    'one version everywhere, with its section in CHANGELOG.md',
    () => {
      const wrong = [...versions()].filter(([, each]) => each !== version);
      if (wrong.length > 0) throw new Error(`expected ${version}: ${JSON.stringify(wrong)}`);
      if (values.tag !== undefined && values.tag !== `v${version}`)
        throw new Error(`the tag is ${values.tag}, not v${version}`);
      const [, notes] =
        new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b.*\\n([\\s\\S]*?)(?=^## )`, 'm').exec(
          `${readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')}\n## `,
        ) ?? [];
      if (notes === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
      writeFileSync(path.join(out, 'notes.md'), notes.trim());
    },
  ],
  [
    'packages are built and packed',
    async () => {
      await buildPackages();
      run('npm', ['pack', '--pack-destination', out, ...published], scratch);
    },
  ],
  [
    'packages work where they are installed',
    () => {
      const tested = spawnSync(path.join(root, 'scripts', 'test'), [beforeRelease], { stdio: 'inherit' });
      if (tested.status !== 0) throw new Error('the lines above have the reason');
    },
  ],
  [
    'bill of materials',
    () => writeFileSync(path.join(out, 'sbom.json'), `${JSON.stringify(billOfMaterials(), null, 2)}\n`),
  ],
  [
    'installed from the registry, for both architectures of the image',
    () => {
      for (const [cpu, machine] of [
        ['x64', 62],
        ['arm64', 183],
      ] as const) {
        const folder = emptyFolder(`image-${cpu}`);
        fetched(
          ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--os=linux', `--cpu=${cpu}`, tarball('innbound')],
          folder,
        );
        const node = path.join(folder, 'node_modules', `node-linux-${cpu}`, 'bin', 'node');
        if (machineOf(node) !== machine) throw new Error(`${node} is for another machine`);
        rmSync(folder, { recursive: true });
      }
    },
  ],
  [
    'sender and receiver run on Node 18',
    () => {
      if (process.platform !== 'linux') throw new Skipped('only on Linux');
      const folder = emptyFolder('node-18');
      const node = `node-linux-${process.arch}`;
      fetched(
        ['install', '--no-audit', '--no-fund', `${node}@18`, tarball('innbound-sender'), tarball('innbound-receiver')],
        folder,
      );
      const program = path.join(folder, 'node_modules', node, 'bin', 'node');
      const use = `for (const load of [(n) => require(n), (n) => import(n)]) Promise.all(['innbound-sender', 'innbound-receiver'].map(load)).then(([s, r]) => { if (!s.WebhookSender || !r.verify) process.exit(1); });`;
      run(program, ['-e', use], folder);
    },
  ],
  [
    'image for both architectures',
    () => {
      if (!isThere('docker')) throw new Skipped('docker is not installed');
      run('docker', ['buildx', 'build', '--platform', 'linux/amd64,linux/arm64', '-f', 'ops/Dockerfile', '.']);
    },
  ],
  [
    'chart is linted, rendered and packed by Helm',
    () => {
      const helm = findHelm(emptyFolder('helm'), (folder, name) =>
        fetched(['install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=peer', name], folder),
      );
      if (helm === undefined)
        throw new Skipped('helm is not installed; test/ops/chart.test.ts checks what can be checked without it');
      const chart = path.join(root, 'ops', 'helm', 'innbound');
      checkChart(helm, chart);
      // In a folder of its own: its name is that of the npm package.
      run(helm, ['package', chart, '--destination', path.join(out, 'chart')]);
    },
  ],
  [
    'documentation site',
    () => {
      const site = path.join(root, 'site');
      fetched(['ci', '--no-audit', '--no-fund'], site);
      run('npm', ['run', 'build'], site);
    },
  ],
  [
    'workflows call what exists',
    () => {
      const folder = path.join(root, '.github', 'workflows');
      const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: object };
      for (const file of readdirSync(folder)) {
        const { jobs } = parse(readFileSync(path.join(folder, file), 'utf8')) as {
          jobs: Record<string, { steps: { run?: string }[] }>;
        };
        const commands = Object.values(jobs).flatMap((job) => job.steps.map((step) => step.run ?? ''));
        for (const [, name = ''] of commands.join('\n').matchAll(/npm run ([\w:]+)\b(?! --prefix)/g)) {
          if (!Object.hasOwn(scripts, name)) throw new Error(`${file} calls npm run ${name}`);
        }
      }
    },
  ],
  [
    'checksums',
    () => {
      const sums = readdirSync(out)
        .filter((file) => file !== 'SHA256SUMS' && file !== 'chart')
        .map(
          (file) =>
            `${createHash('sha256')
              .update(readFileSync(path.join(out, file)))
              .digest('hex')}  ${file}\n`,
        );
      writeFileSync(path.join(out, 'SHA256SUMS'), sums.join(''));
    },
  ],
];

mkdirSync(out, { recursive: true });
try {
  for (const [name, work] of steps) {
    const startedAt = performance.now();
    const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1);
    try {
      await work();
      console.log(`✔ ${name} (${seconds()} s)`);
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof Skipped)) process.exitCode = 1;
      console.log(`${error instanceof Skipped ? '–' : '✖'} ${name}: ${message}`);
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
