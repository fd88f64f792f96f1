import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { compile, valuesOf } from '../../src/core/deliver/destinations/http/compile-operation.ts';
import { presets } from '../../src/core/deliver/destinations/http/preset.ts';
import { readShippedConnectors } from '../../src/core/documents/load.ts';
import { parseFile } from '../../src/core/documents/parse.ts';
import type { RequestTemplate } from '../../src/core/documents/pull.ts';
import { openRequest, toWire } from '../../src/core/outbound/ask/request.ts';
import { type Http, openHttp } from '../../src/core/outbound/http.ts';
import { urlFault } from '../../src/kit/plain-url.ts';
import { shippedConnectorsDir } from '../../src/runtime/workspace-documents.ts';
import { isObject, type Json } from '../../src/terms.ts';

/** A value of a partner's record, in a place where it could choose another address. */
const hostile = [
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '.%2e',
  './..',
  '../../admin',
  '..\\admin',
  '\\\\other.example\\x',
  '//other.example/x',
  '/',
  '//',
  '?admin=1',
  '#x',
  '@other.example',
  'user:password@other.example',
  'https://other.example/x',
  'file:///etc/hostname',
  'javascript:0',
  'a\r\nx-injected: 1',
  'a\nb',
  'a\0b',
  '\u2028',
  '\t..',
  '..;',
  '\ud800',
  ' ',
  '%00',
  '%0d%0ax-injected:1',
];
const values = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary' }), fc.string());

interface Seen {
  readonly path: string;
  readonly isInjected: boolean;
}

let http: Http;
let base: string;
const seen: Seen[] = [];
const server = createServer((request, response) => {
  seen.push({ path: request.url ?? '', isInjected: request.headers['x-injected'] !== undefined });
  response.end('{}');
});

before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  http = openHttp({ allowPrivate: true, userAgent: 'test' });
});

after(async () => {
  await http.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const segments = (url: string): string[] =>
  url
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/[?#].*$/s, '')
    .split('/');

/** Nothing was sent, or exactly one request whose path is that of the template but for the placeholders' own segments. */
async function stays(template: string, url: string | undefined, headers: Readonly<Record<string, string>> = {}) {
  seen.length = 0;
  if (url === undefined) return;
  const answered = await http.request({
    method: 'GET',
    url,
    headers,
    deadlineMs: 5_000,
    idleMs: 5_000,
    expects: 'short',
  });
  if (answered.kind === 'failed') return assert.equal(seen.length, 0, template);
  const [got] = seen;
  assert.ok(got && seen.length === 1, template);
  assert.ok(!got.isInjected, template);
  const [wanted, path] = [segments(template), segments(got.path)];
  assert.equal(path.length, wanted.length, `${template}: ${got.path}`);
  for (const [i, part] of wanted.entries()) if (!part.includes('{')) assert.equal(path[i], part, template);
}

/** Every value that a template names, as a scope in which each is this text. */
function scopeOf(texts: readonly string[], value: string) {
  const scope: { [name: string]: unknown } = {};
  for (const [, inner = ''] of texts.join(' ').matchAll(/(?<!\$)\{([^{}]*)\}/g)) {
    const steps = (inner.split('|')[0] ?? '').split('.');
    let at = scope;
    for (const step of steps.slice(0, -1)) {
      if (!isObject((at[step] ?? null) as Json)) at[step] = {};
      at = at[step] as typeof at;
    }
    const last = steps.at(-1) ?? '';
    if (!isObject((at[last] ?? null) as Json)) at[last] = value;
  }
  return scope;
}

function* objectsIn(value: unknown): Generator<{ readonly [key: string]: unknown }> {
  if (typeof value !== 'object' || value === null) return;
  yield value as { readonly [key: string]: unknown };
  for (const one of Object.values(value)) yield* objectsIn(one);
}

test('a value of a record cannot change the address of a request of any preset', async () => {
  const urls = presets.values().flatMap((preset) => {
    const own = Object.fromEntries(Object.keys(preset.with).map((name) => [name, 'x']));
    return [...objectsIn(preset)].flatMap((rule) => {
      if (typeof rule.url !== 'string' || 'list' in rule || 'find' in rule) return [];
      const url = rule.url.replace(/^(?:https?:\/\/[^/]*|\{with\.\w+\})/, base);
      const headers = isObject(rule.headers as Json) ? (rule.headers as Record<string, string>) : {};
      return [{ url, headers, own: valuesOf({ with: own }, preset) }];
    });
  });
  const written = ['/v1/{data.id}', '/v1/{data.id}/notes/{guest.email}', '/v1/x-{data.id}', '/v1?id={data.id}'].map(
    (path) => ({ url: base + path, headers: { 'x-id': '{data.id}' }, own: {} }),
  );
  assert.ok(urls.length > 20, 'the presets are found');
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...written, ...urls), values, async ({ url, headers, own }, value) => {
      const operation = compile({ method: 'GET', url, headers }, own);
      const scope = scopeOf([url, ...Object.values(headers)], value);
      const template = url.replace(/\{with\.(\w+)\}/g, (_, name: string) => own[name] ?? '');
      await stays(template, operation.url(scope), operation.headers(scope));
    }),
    { numRuns: 1_500 },
  );
  for (const value of hostile) {
    for (const { url, own } of written) {
      await stays(url, compile({ method: 'GET', url }, own).url(scopeOf([url], value)));
    }
  }
});

test('nor can it in a request of any connector', async () => {
  const templates: string[] = [];
  for (const source of await readShippedConnectors(shippedConnectorsDir)) {
    const { pull, push } = (parseFile(source).document?.body ?? {}) as Record<string, unknown>;
    for (const { path } of objectsIn([pull, push]))
      if (typeof path === 'string' && path.startsWith('/')) templates.push(path);
  }
  assert.ok(templates.length > 15, 'the connectors are found');
  const all = [...new Set([...templates, '/v1/{id}', '/v1/{id}/rooms/{brand_id}', '/v1/{id}-{brand_id}'])];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...all), values, async (path, value) => {
      const template: RequestTemplate = { method: 'GET', path, query: { q: '{id}' }, headers: {}, encoding: 'json' };
      const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => [name, value]);
      const request = openRequest(template, base, { id: value, ...Object.fromEntries(names) });
      await stays(base + path, urlFault(request.base) === undefined ? toWire(request).url : undefined);
    }),
    { numRuns: 1_000 },
  );
});

test('a secret that is part of an address brings no other scheme, user or line break', () => {
  const refused = [
    ...['file:///etc/hostname', 'ftp://x.example', 'javascript:0', 'https:/x', 'x.example', '', 'https://'],
    ...['https://user:password@x.example', 'https://x.example@other.example/'],
    ...['https://x.example\\@other.example/', 'https://x.example/a\\..\\b', 'https://x.example/\r\nx: y'],
    ...['https://x.example/a\0', '\nhttps://x.example', 'https://x.example/..', 'https://x.example/%2e%2e?x'],
  ];
  for (const url of refused) assert.notEqual(urlFault(url), undefined, JSON.stringify(url));
  for (const url of ['https://x.example', 'http://x.example:8080/a..b/...?q=../..#..', 'https://x.example/a b?x=@'])
    assert.equal(urlFault(url), undefined, url);
});
