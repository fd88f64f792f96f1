/**
 * Builds every version of the site into dist/: the newest patch of each released minor version from its tag, under /0.2 for example, and
 * this checkout under /next. The root leads to the newest release. All versions are built together, so the switch of each knows all.
 *
 *   node build.mjs [VERSION=REF …]     other versions than those of the tags
 *   INNBOUND_SITE_BASE=/innbound/      if the site is not at the root of its host
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const site = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const checkout = path.join(site, '..');
const out = path.join(site, 'dist');
const base = process.env.INNBOUND_SITE_BASE ?? '/';
const git = (...args) => execFileSync('git', args, { cwd: checkout, encoding: 'utf8' });

/** Versions by name, newest first, each with its commit. */
function released() {
  if (process.argv.length > 2) return process.argv.slice(2).map((each) => each.split('='));
  const newest = new Map();
  for (const tag of git('tag', '--list', 'v*', '--sort=version:refname').split('\n').filter(Boolean)) {
    const [, minor] = /^v(\d+\.\d+)\.\d+$/.exec(tag) ?? [];
    if (minor !== undefined) newest.set(minor, tag);
  }
  return [...newest].reverse();
}

const releases = released();
const versions = [...releases.map(([name]) => name), 'next'];
rmSync(out, { recursive: true, force: true });
mkdirSync(out);

function build(name, folder) {
  execFileSync(process.execPath, ['stage.mjs', folder, 'pages'], { cwd: site, stdio: 'inherit' });
  execFileSync(path.join(site, 'node_modules', '.bin', 'vitepress'), ['build'], {
    cwd: site,
    stdio: 'inherit',
    env: { ...process.env, SITE_VERSION: name, SITE_VERSIONS: versions.join(), SITE_BASE: `${base}${name}/` },
  });
}

for (const [name, ref] of releases) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-site-'));
  try {
    execFileSync('sh', ['-c', `git archive "$1" | tar -x -C "$2"`, 'sh', ref, folder], { cwd: checkout });
    build(name, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
build('next', checkout);

const first = `${base}${versions[0]}/`;
const redirect = `<!doctype html><meta charset="utf-8"><title>Innbound</title><meta http-equiv="refresh" content="0; url=${first}"><a href="${first}">Innbound</a>\n`;
writeFileSync(path.join(out, 'index.html'), redirect);
writeFileSync(
  path.join(out, 'llms.txt'),
  `# Innbound\n\n${versions.map((name) => `- [${name}](${base}${name}/llms.txt)`).join('\n')}\n`,
);
