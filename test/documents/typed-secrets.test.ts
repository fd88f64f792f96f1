import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { DocumentKind } from '../../src/core/documents/kinds.ts';
import { pathText } from '../../src/core/documents/path.ts';
import { withReferences } from '../../src/core/documents/typed-secrets.ts';

/** Every way to write a text in YAML, holding the same credential. */
const value = 's3cr3t "value" \\ of 42';
const spellings: Readonly<Record<string, string>> = {
  plain: value,
  'single quotes': `'${value}'`,
  'double quotes': JSON.stringify(value),
  'escaped letters': '"\\x733cr3t \\"value\\" \\\\ \\u006ff 42"',
  'folded quotes': '"s3cr3t \\"value\\"\n      \\\\ of 42"',
  'folded plain': 's3cr3t "value"\n      \\ of 42',
  literal: `|-\n      ${value}`,
  folded: '>-\n      s3cr3t "value"\n      \\ of 42',
  'literal, kept': `|\n      ${value}`,
  anchored: `&token ${value}`,
  tagged: `!!str ${value}`,
};

const integration = (token: string) => `# a note
integration: acme
connector: hotel
brand_id: acme
timezone: Europe/Lisbon
pull:
  base_url: https://pms.example
  auth:
    type: bearer
    token: ${token}
  syncs: {} # later
deliver: []
`;

function sealed(kind: DocumentKind, text: string) {
  return withReferences(kind, text, (path) => `typed_${pathText(path).replace(/\W+/g, '.')}`);
}

for (const [name, spelling] of Object.entries(spellings)) {
  test(`a credential is replaced in its place: ${name}`, () => {
    const text = integration(spelling);
    assert.equal((parse(text) as { pull: { auth: { token: string } } }).pull.auth.token.trim(), value);
    const { text: kept, secrets } = sealed('integration', text);
    assert.deepEqual(
      secrets.map((one) => ({ ...one, value: one.value.trim() })),
      [{ name: 'typed_pull.auth.token', value }],
    );
    assert.ok(!/s3cr|x733|value/.test(kept), kept);
    const expected = parse(text) as { pull: { auth: { token: string } } };
    expected.pull.auth.token = `\${secret:typed_pull.auth.token}`;
    assert.deepEqual(parse(kept), expected);
    assert.ok(
      kept.startsWith('# a note\nintegration: acme\n') && kept.includes('# later'),
      'the rest stays as written',
    );
  });
}

test('sealing a short credential changes no other text', () => {
  for (const token of ['a', 'au', 'i', 'hotel', 'Europe']) {
    const { text } = sealed('integration', integration(token));
    assert.equal(text, integration(`"\${secret:typed_pull.auth.token}"`));
  }
});

test('an alias of a credential is sealed at its anchor', () => {
  const text = integration('&t hunter2').replace('syncs: {}', 'headers: { X-Key: *t }\n  syncs: {}');
  const { text: kept, secrets } = sealed('integration', text);
  assert.equal(secrets.length, 1);
  assert.ok(!kept.includes('hunter2'));
  const { pull } = parse(kept) as { pull: { auth: { token: string }; headers: Record<string, string> } };
  assert.equal(pull.headers['X-Key'], pull.auth.token);
});

const planted: readonly (readonly [DocumentKind, string, string])[] = [
  ['integration', 'pull', 'pull:\n  base_url: https://user:CANARY@pms.example\n  auth: { type: none }'],
  ['integration', 'query', 'pull:\n  base_url: https://pms.example/?key=CANARY\n  auth: { type: none }'],
  [
    'integration',
    'headers',
    'pull:\n  base_url: https://pms.example\n  headers: { X-App: CANARY }\n  auth: { type: none }',
  ],
  [
    'integration',
    'own query',
    'pull:\n  base_url: https://pms.example\n  query: { key: CANARY }\n  auth: { type: none }',
  ],
  [
    'integration',
    'list in own query',
    'pull:\n  base_url: https://pms.example\n  query: { key: [CANARY] }\n  auth: { type: none }',
  ],
  [
    'integration',
    'basic',
    'pull:\n  base_url: https://pms.example\n  auth: { type: basic, username: u, password: CANARY }',
  ],
  [
    'integration',
    'a key beside a signature',
    `pull:\n  base_url: https://pms.example\n  auth: { type: hmac, secret: "\${env:S}", headers: { X-App: CANARY, X-T: "{timestamp}", X-Sig: "v1={signature}" } }`,
  ],
  [
    'integration',
    'oauth params',
    `pull:\n  base_url: https://pms.example\n  auth: { type: oauth2, grant: client_credentials, token_url: https://a.example, client_id: i, client_secret: "\${env:S}", params: { api_key: CANARY } }`,
  ],
  [
    'integration',
    'token url',
    `pull:\n  base_url: https://pms.example\n  auth: { type: oauth2, grant: client_credentials, token_url: "https://a.example?k=CANARY", client_id: i, client_secret: "\${env:S}" }`,
  ],
  [
    'integration',
    'custom body',
    'pull:\n  base_url: https://pms.example\n  auth: { type: custom, body: { a: { b: [CANARY] } } }',
  ],
  ['destination', 'http headers', 'type: http\nurl: https://crm.example\nheaders: { X-Thing: CANARY }'],
  ['destination', 'http with', 'type: http\nurl: https://crm.example\nwith: { code: CANARY }'],
  ['destination', 'http query', 'type: http\nurl: https://crm.example/{data.id}?k=CANARY'],
  [
    'destination',
    'http situation',
    'type: http\nurl: https://crm.example\non: { erased: { url: "https://crm.example?k=CANARY" } }',
  ],
  ['destination', 'http body', 'type: http\nurl: https://crm.example\nbody: { api_key: CANARY }'],
  [
    'destination',
    'webhook headers',
    `type: webhook\nurl: https://crm.example\nsecret: "\${env:S}"\nheaders: { X-Thing: CANARY }`,
  ],
  ['destination', 'webhook url', `type: webhook\nurl: https://crm.example?token=CANARY\nsecret: "\${env:S}"`],
  ['destination', 'postgres', 'type: postgres\nurl: postgres://u:CANARY@h/d'],
  [
    'connector',
    'query',
    'pull:\n  request: { path: /r, query: { api_key: CANARY, from: "{window.from}", to: "{window.to}" } }',
  ],
  ['workspace', 'proxy', 'network: { proxy: "http://u:CANARY@proxy.example:3128" }'],
  ['workspace', 'alerts', 'alerts: { webhook: https://hooks.example/services/CANARY }'],
];

for (const [kind, name, settings] of planted) {
  test(`${kind}, ${name}: a typed credential is found`, () => {
    const head = kind === 'workspace' ? '' : `${kind}: acme\n`;
    const { text, secrets } = sealed(kind, `${head}${settings}\n`);
    assert.equal(secrets.length, 1, text);
    assert.ok(!text.includes('CANARY'), text);
  });
}

test('values that are not credentials stay readable', () => {
  for (const [kind, text] of [
    [
      'destination',
      `destination: a\ntype: http\nurl: https://crm.example/v1/{data.id}?dry=true\nheaders: { Accept: application/json, Authorization: "Bearer {with.token}" }\nwith: { base_url: https://crm.example, token: "\${env:T}" }\nbody: { type: stay, id: "{data.id}" }\n`,
    ],
    [
      'connector',
      'connector: a\npull:\n  request: { path: /r, query: { from: "{window.from}", to: "{window.to}", expand: guests, api_key: "{brand_id}" } }\n',
    ],
    ['workspace', 'public_url: https://innbound.example\nnetwork: { proxy: "http://proxy.example:3128" }\n'],
  ] as const) {
    assert.deepEqual(sealed(kind, text), { text, secrets: [] });
  }
});
