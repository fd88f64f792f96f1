import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { openLog } from '../../src/kit/log.ts';

/** Rules of the security standard (docs/security/asvs.md) that the source text itself shows. */

const root = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const sources = ['src', 'packages', 'console/src'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => ({ file: `${folder}/${file}`, text: read(`${folder}/${file}`) })),
);
const having = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

test('only the listed files start programs, none with input from outside', () => {
  assert.deepEqual(having(/from 'node:child_process'/).sort(), [
    // INNBOUND_KEY_COMMAND, which the operator's environment sets.
    'src/core/documents/keyring.ts',
    'src/operator/embedded-postgres/account.ts',
    'src/operator/embedded-postgres/postmaster.ts',
    'src/operator/embedded-postgres/server.ts',
    'src/operator/operations/build-console.ts',
  ]);
});

test('no text is executed as code', () => {
  assert.deepEqual(having(/\beval\(|new Function\b|from 'node:vm'|setTimeout\(\s*['"`]/), []);
  // Adapters are files of the workspace, named by an operator; commands and destinations are our own files.
  assert.deepEqual(having(/\bimport\((?!\s*['"])/).sort(), [
    'src/core/deliver/destinations.ts',
    'src/core/documents/destination.ts',
    'src/core/outbound/ask/adapter.ts',
    'src/operator/cli/run.ts',
  ]);
});

test('cryptography is Node’s own', () => {
  assert.deepEqual(having(/from '(?:crypto-js|node-forge|bcrypt|sjcl|tweetnacl)/), []);
  const ciphers = sources.flatMap(({ text }) =>
    [...text.matchAll(/createCipheriv\('([^']+)'/g)].map((match) => match[1]),
  );
  assert.deepEqual(ciphers, ['aes-256-gcm']);
  // A vendor's API requires the MD5 of an address as its key; HMAC-SHA1 is only recognised, to report it as wrong.
  const weak = /(?:createHash|createHmac|hash)\('(?:md5|sha1)'/;
  assert.deepEqual(having(weak), ['src/core/deliver/destinations/http/template.ts']);
});

test('a line break in a value stays inside its log line', () => {
  const stream = new PassThrough();
  openLog('info', stream).info({ id: 'a\n{"level":50}\r\u2028' }, 'one\ntwo');
  const lines = String(stream.read()).trimEnd().split('\n');
  assert.equal(lines.length, 1);
  assert.deepEqual(JSON.parse(lines[0] ?? '').id, 'a\n{"level":50}\r\u2028');
});

test('the image leaves out source control and tests', () => {
  const ignored = read('ops/Dockerfile.dockerignore').split('\n');
  for (const entry of ['**/.git', '**/.innbound', 'test', 'bench']) assert.ok(ignored.includes(entry), entry);
});

test('both base images are pinned by digest and can be replaced', () => {
  const dockerfile = read('ops/Dockerfile');
  const bases = [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map((match) => match[1]);
  assert.deepEqual(
    bases,
    ['BUILD', 'BASE'].map((name) => `$\{${name}}`),
  );
  for (const name of ['BUILD', 'BASE']) {
    assert.match(dockerfile, new RegExp(`^ARG ${name}=[a-z]+:[\\w.-]+@sha256:[0-9a-f]{64}$`, 'm'));
  }
});

test('what the image installs comes from the lockfile', () => {
  assert.doesNotMatch(read('ops/Dockerfile'), /npm (?:install|i|exec)\b|npx/);
});

test('compose pins every image by digest and publishes ports on this machine only', () => {
  const compose = parse(read('ops/compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string; build?: object; ports?: string[] }>;
  };
  for (const [name, { image, build, ports = [] }] of Object.entries(compose.services)) {
    if (build === undefined) assert.match(image, /@sha256:[0-9a-f]{64}$/, name);
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name);
  }
});

test('pods have a read-only root, no privileges and no token of the cluster', () => {
  const pods = parseAllDocuments(read('ops/kubernetes/innbound.yaml'))
    .map((document) => document.toJS())
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => spec.template.spec);
  assert.equal(pods.length, 2);
  for (const { automountServiceAccountToken, securityContext, containers, volumes } of pods) {
    assert.equal(automountServiceAccountToken, false);
    assert.equal(securityContext.runAsNonRoot, true);
    for (const { securityContext: own, volumeMounts } of containers) {
      assert.deepEqual(own, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const mounts = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
      assert.ok(['/workspace', '/tmp'].every((one) => mounts.includes(one)));
    }
    const names = volumes.map(({ name }: { name: string }) => name);
    for (const { volumeMounts } of containers)
      for (const { name } of volumeMounts) assert.ok(names.includes(name), name);
  }
});
