import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { parse } from 'yaml';
import { root } from '../../../scripts/packages/build.ts';
import { says } from '../clone.ts';
import { placePlatform, systemPath } from './installed.ts';

/** ops/systemd/install.sh with a packed package, into a folder, without systemd: what it writes, and the command line of the unit. */
export async function installedForSystemd(t: TestContext, packed: string, version: string): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-systemd-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const install = (what: string) =>
    spawnSync('sh', [path.join(root, 'ops', 'systemd', 'install.sh'), '--destdir', folder, what], {
      encoding: 'utf8',
      env: {
        PATH: systemPath,
        HOME: folder,
        npm_config_cache: path.join(folder, '.npm'),
        npm_config_offline: 'true',
        npm_config_omit: 'optional',
      },
    });
  const first = install(packed);
  assert.equal(first.status, 0, first.stdout + first.stderr);
  const environment = path.join(folder, 'etc', 'innbound', 'environment');
  const modeOf = (file: string) => statSync(file).mode & 0o777;
  assert.equal(modeOf(environment), 0o600);
  assert.equal(modeOf(path.join(folder, 'var', 'lib', 'innbound')), 0o700);
  assert.equal(existsSync(path.join(folder, 'opt', 'innbound', 'src')), false, 'no sources');

  writeFileSync(environment, 'INNBOUND_LOG_LEVEL=info\n');
  const settings = path.join(folder, 'var', 'lib', 'innbound', 'innbound.yaml');
  assert.deepEqual(parse(readFileSync(settings, 'utf8')), {});
  writeFileSync(settings, 'retention: { raw: 7d }\n');
  const broken = install(path.join(folder, 'no-such-package.tgz'));
  assert.notEqual(broken.status, 0);
  const program = path.join(folder, 'opt', 'innbound');
  assert.ok(existsSync(path.join(program, 'node_modules', 'innbound')), 'a failed upgrade leaves the program');
  assert.equal(install(packed).status, 0, 'an upgrade');
  assert.equal(readFileSync(environment, 'utf8'), 'INNBOUND_LOG_LEVEL=info\n', 'an upgrade keeps the settings');
  assert.equal(readFileSync(settings, 'utf8'), 'retention: { raw: 7d }\n');
  assert.equal(existsSync(`${program}.new`), false);

  await placePlatform(program, async (name, ...args) => {
    const { status, stdout, stderr } = spawnSync(name, args, { encoding: 'utf8' });
    return { code: status, out: stdout, err: stderr };
  });
  symlinkSync(process.execPath, path.join(program, 'node_modules', '.bin', 'node'));
  const inFolder = (text: string) => text.replaceAll(/(?<=^|[\s=:-])\/(opt|var)\//g, `${folder}/$1/`);
  const read = (...file: string[]) => inFolder(readFileSync(path.join(folder, ...file), 'utf8'));

  const command = spawnSync('sh', ['-s', '--', '--version'], {
    input: read('usr', 'local', 'bin', 'innbound'),
    encoding: 'utf8',
    env: { PATH: systemPath },
  });
  assert.equal(command.stdout, `${version}\n`, command.stderr);

  const unit = read('etc', 'systemd', 'system', 'innbound.service');
  // Where systemd is installed, it judges the unit itself.
  const verified = path.join(folder, 'innbound.service');
  writeFileSync(verified, unit);
  const judged = spawnSync('systemd-analyze', ['verify', verified], { encoding: 'utf8' });
  if (judged.error === undefined) assert.deepEqual([judged.status, judged.stderr], [0, '']);
  const [, start = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const [, workspace = ''] = /^Environment=INNBOUND_WORKSPACE=(.+)$/m.exec(unit) ?? [];
  const [node = '', ...args] = start.replace('--port 4180', '--port 0').split(' ');
  const service = spawn(node, args, {
    cwd: workspace,
    env: { PATH: systemPath, INNBOUND_WORKSPACE: workspace, INNBOUND_LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(service, 'close');
  try {
    await says(service, 'innbound is ready');
  } finally {
    service.kill('SIGTERM');
  }
  assert.deepEqual(await ended, [0, null], 'the unit’s own process ends in order');
}
