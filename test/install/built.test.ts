import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildPackages, published } from '../../scripts/packages/build.ts';

/** Every package builds, and its entries load where no library is installed. Packing and installing: test/install/packages. */

let folder: string;
before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-built-'));
  await buildPackages();
  for (const home of published) {
    const isSource = (file: string) => path.relative(home, file).split(path.sep)[0] === 'src';
    cpSync(home, path.join(folder, path.basename(home)), { recursive: true, filter: (file) => !isSource(file) });
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

function node(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder },
  });
  assert.equal(status, 0, stdout + stderr);
  return stdout.trim();
}

const { version } = JSON.parse(readFileSync(path.join(published[0] ?? '', 'package.json'), 'utf8')) as {
  version: string;
};

test('the service tells its version, and makes and checks a workspace', () => {
  assert.equal(node('innbound/bin/innbound.cjs', '--version'), version);
  node('innbound/bin/innbound.cjs', 'init', 'hotels');
  node('innbound/bin/innbound.cjs', 'validate', '--workspace', 'hotels');
});

test('the partner kit shows its commands', () => {
  assert.match(node('partner-kit/dist/partner-kit/src/cli/main.js', '--help'), /simulate[\s\S]*check/);
});

for (const [name, what] of [
  ['sender', 'WebhookSender'],
  ['receiver', 'verify'],
] as const) {
  test(`the ${name} loads by import and by require`, () => {
    const use = `console.log(typeof require('./${name}/dist/index.cjs').${what}); import('./${name}/dist/index.js').then((all) => console.log(typeof all.${what}))`;
    assert.equal(node('-e', use), 'function\nfunction');
  });
}
