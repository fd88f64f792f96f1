import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { openLog } from '../../src/kit/log.ts';
import { registerConsole } from '../../src/operator/api/console.ts';
import { buildServer } from '../../src/operator/api/server.ts';
import type { ConsolePorts } from '../../src/operator/operations/build-console.ts';

/** How the console is served, before and after it is built. */

let dist: string;
let progress: ReturnType<ConsolePorts['progress']> = { kind: 'building' };
const app = buildServer({ log: openLog('silent'), notReady: async () => [] });
const get = (url: string, headers: Record<string, string> = { accept: 'text/html' }) => app.inject({ url, headers });

before(async () => {
  dist = path.join(await mkdtemp(path.join(os.tmpdir(), 'innbound-dist-')), 'dist');
  registerConsole(app, { dist, progress: () => progress });
});
after(async () => {
  await app.close();
  await rm(path.dirname(dist), { recursive: true, force: true });
});

test('until it is built, a page says so and reloads by itself', async () => {
  const answer = await get('/');
  assert.equal(answer.statusCode, 503);
  assert.equal(answer.headers.refresh, '2');
  assert.match(answer.body, /Building the console/);
});

test('if the build fails, the page says what to do and does not reload', async () => {
  progress = { kind: 'failed', message: 'Run <this> to see why' };
  const answer = await get('/');
  assert.equal(answer.headers.refresh, undefined);
  assert.match(answer.body, /Run &#60;this&#62; to see why/);
});

test('a finished build is served without a restart, and a newer one replaces it', async () => {
  await mkdir(path.join(dist, 'assets'), { recursive: true });
  await writeFile(path.join(dist, 'index.html'), '<meta nonce="__NONCE__">one');
  await writeFile(path.join(dist, 'assets', 'a-1.js'), 'x'.repeat(5_000));
  await writeFile(path.join(dist, 'assets', 'a-1.js.br'), brotliCompressSync('x'.repeat(5_000)));
  await writeFile(path.join(dist, 'stamp'), '1');
  assert.match((await get('/any/page')).body, /^<meta nonce="[^_"]+">one$/);
  const plain = await get('/assets/a-1.js', {});
  assert.equal(plain.body.length, 5_000);
  assert.match(String(plain.headers['content-type']), /javascript/);
  const small = await get('/assets/a-1.js', { 'accept-encoding': 'gzip, br' });
  assert.equal(small.headers['content-encoding'], 'br');
  assert.ok(small.rawPayload.length < 100);
  await rm(path.join(dist, 'stamp'));
  await writeFile(path.join(dist, 'index.html'), 'two');
  await writeFile(path.join(dist, 'stamp'), '2');
  assert.equal((await get('/')).body, 'two');
});

test('a client that is not a browser gets plain text with the main addresses', async () => {
  const answer = await get('/', { accept: '*/*' });
  assert.equal(answer.statusCode, 200);
  assert.match(String(answer.headers['content-type']), /^text\/plain/);
  assert.match(answer.body, /console[\s\S]+\/readyz[\s\S]+\/api\/reference/);
  assert.equal((await get('/any/page', { accept: '*/*' })).statusCode, 404);
});

test('the stamp and files outside the build are not served', async () => {
  for (const at of ['/stamp', '/assets/a-1.js.br', '/index.html', '/../package.json', '/assets/%2e%2e/stamp']) {
    const answer = await get(at, {});
    assert.equal(answer.statusCode, 404, at);
  }
});
