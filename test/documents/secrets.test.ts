import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveSecrets, type SecretSources } from '../../src/core/documents/secret-reference.ts';
import { literalSecrets } from '../../src/core/documents/typed-secrets.ts';

const env = (name: string) => `\${env:${name}}`;
const file = (path: string) => `\${file:${path}}`;
const secret = (name: string) => `\${secret:${name}}`;

function sources(overrides: Partial<SecretSources> = {}): SecretSources {
  return {
    env: { TOKEN: 'from-env', HOST: 'pms.example', EMPTY: '' },
    readFile: async (path) => (path === '/run/secrets/key' ? 'from-file\n' : undefined),
    secret: async (name) => (name === 'lisbon' ? `kept ${env('TOKEN')}` : undefined),
    ...overrides,
  };
}

test('references are replaced everywhere, and the rest is unchanged', async () => {
  const body = {
    a: env('TOKEN'),
    b: [`https://${env('HOST')}/${file('/run/secrets/key')}`],
    c: { d: secret('lisbon') },
    e: 7,
    f: null,
    g: true,
  };
  const before = structuredClone(body);
  assert.deepEqual(await resolveSecrets(body, sources()), {
    kind: 'ok',
    // A reference inside a stored secret is not resolved.
    body: {
      a: 'from-env',
      b: ['https://pms.example/from-file'],
      c: { d: `kept ${env('TOKEN')}` },
      e: 7,
      f: null,
      g: true,
    },
  });
  assert.deepEqual(body, before);
});

test('every reference that cannot be read is reported, with its place and without values', async () => {
  const body = {
    auth: { token: env('NOPE'), also: `${env('TOKEN')}${env('EMPTY')}` },
    list: [file('/missing'), secret('unknown')],
  };
  assert.deepEqual(await resolveSecrets(body, sources()), {
    kind: 'missing',
    missing: [
      { path: 'auth.token', reference: env('NOPE') },
      { path: 'auth.also', reference: env('EMPTY') },
      { path: 'list[0]', reference: file('/missing') },
      { path: 'list[1]', reference: secret('unknown') },
    ],
  });
});

test('an inherited property of an object is not an environment variable', async () => {
  assert.equal((await resolveSecrets({ a: env('constructor') }, sources())).kind, 'missing');
});

test('each source is read once', async () => {
  let asked = 0;
  const counted = sources({
    secret: async () => {
      asked++;
      return 'x';
    },
  });
  await resolveSecrets({ a: secret('lisbon'), b: [secret('lisbon'), secret('lisbon')] }, counted);
  assert.equal(asked, 1);
});

const integration = (auth: unknown) => ({ integration: 'a', pull: { base_url: 'https://x.example', auth } });

test('credentials that were typed in are found by the schema, references are not', () => {
  const paths = (auth: unknown) =>
    literalSecrets('integration', integration(auth)).map(({ path }) => path.slice(2).join('.'));
  assert.deepEqual(paths({ type: 'bearer', token: 'abc' }), ['token']);
  assert.deepEqual(paths({ type: 'bearer', token: env('X') }), []);
  assert.deepEqual(paths({ type: 'basic', username: 'u', password: 'p' }), ['password']);
  assert.deepEqual(paths({ type: 'oauth2', grant: 'authorization_code', client_id: 'i', client_secret: 's' }), [
    'client_secret',
  ]);
  assert.deepEqual(paths({ type: 'custom', headers: { A: 'a', B: env('B') }, body: { c: { d: ['e', env('F')] } } }), [
    'headers.A',
    'body.c.d.0',
  ]);
  assert.deepEqual(
    literalSecrets('destination', { destination: 'a', type: 'postgres', url: 'postgres://u:p@h/d' }).map(
      ({ path }) => path,
    ),
    [['url']],
  );
});
