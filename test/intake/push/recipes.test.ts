import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { checkFiles } from '../../../src/core/documents/check.ts';
import { connectorSchema } from '../../../src/core/documents/connector.ts';
import { integrationSchema } from '../../../src/core/documents/integration.ts';
import { secretKeys } from '../../../src/core/intake/push/mint.ts';
import { pushSettings } from '../../../src/core/intake/push/settings.ts';
import { verify } from '../../../src/core/intake/push/verify.ts';

/** The recipes of the guide, each against a request as such a sender makes it. */

const secret = 'whsec_dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVy';
const body = '{"event":"guest.updated"}';
const now = 1_763_164_800_500;
const seconds = '1763164800';
const url = 'https://hotel.example/in/webhooks/whk_1?kind=stay';
const mac = (algorithm: string, text: string, encoding: 'hex' | 'base64') =>
  createHmac(algorithm, secret).update(text).digest(encoding);

const requests: Record<string, Record<string, string>> = {
  'X-Hub-Signature-256': { 'x-hub-signature-256': `sha256=${mac('sha256', body, 'hex')}` },
  'X-Shop-Hmac': { 'x-shop-hmac': mac('sha256', body, 'base64') },
  'Pms-Signature': { 'pms-signature': `t=${seconds},v1=${mac('sha256', `${seconds}.${body}`, 'hex')}` },
  'v0=': { 'x-request-timestamp': seconds, 'x-signature': `v0=${mac('sha256', `v0:${seconds}:${body}`, 'hex')}` },
  'X-Url-Signature': { 'x-url-signature': mac('sha256', `${url}${body}`, 'base64') },
  'X-Signature-V3': {
    'x-request-timestamp': String(now),
    'x-signature-v3': mac('sha256', `POST${url}${body}${now}`, 'base64'),
  },
  'X-Request-Id': { 'x-request-id': 'r7', 'x-signature': mac('sha256', `r7.${body}`, 'hex') },
  sha1: { 'x-hub-signature': `sha1=${mac('sha1', body, 'hex')}` },
  basic: { authorization: `Basic ${Buffer.from(`pms:${secret}`).toString('base64')}` },
  Bearer: { authorization: `Bearer ${secret}` },
};

const guide = readFileSync(new URL('../../../docs/guides/other-senders.md', import.meta.url), 'utf8');
const recipes = [...guide.matchAll(/`(\{ type: (?:hmac|token|basic|standard_webhooks).*?\})`/g)].map(
  ([, text = '']) => text,
);

const verificationOf = (text: string) => {
  const connector = connectorSchema.parse({ connector: 'pms', push: { verification: parse(text) } });
  const brand = { integration: 'grand', connector: 'pms', brand_id: 'G', timezone: 'UTC', push: {} };
  return pushSettings(integrationSchema.parse(brand), connector).verification;
};
const verdict = (text: string, headers: Record<string, string>, more: { url?: string; rawBody?: string } = {}) =>
  verify(
    verificationOf(text),
    { headers, query: '', url: more.url ?? url, rawBody: Buffer.from(more.rawBody ?? body) },
    [secretKeys(1, secret)],
    now,
  ).kind;

test('the guide has a recipe for each of these senders', () => {
  assert.equal(recipes.length, 13);
  for (const text of recipes) verificationOf(text);
});

for (const [mark, headers] of Object.entries(requests)) {
  test(`the recipe with ${mark} verifies its sender and nobody else`, () => {
    // The longest signature header decides between recipes that share a word.
    const [text = ''] = recipes.filter(
      (one) => one.includes(mark) && (mark !== 'X-Request-Id' || one.includes('{header.')),
    );
    assert.equal(verdict(text, headers), 'verified', text);
    const forged = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, `${value.slice(0, -6)}AAAAA=`]),
    );
    assert.equal(verdict(text, forged), 'refused');
    assert.equal(verdict(text, {}), 'refused');
    if (text.includes('{body}') || text.includes('sign: body'))
      assert.equal(verdict(text, headers, { rawBody: `${body} ` }), 'refused', 'another body');
    if (text.includes('{url}'))
      assert.equal(verdict(text, headers, { url: `${url}&x=1` }), 'refused', 'another address');
  });
}

test('HTTP Basic compares the user too', () => {
  const of = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
  const text = '{ type: basic, username: pms }';
  for (const pair of [`other:${secret}`, 'pms:', `pms:${secret}x`, secret, ''])
    assert.equal(verdict(text, of(pair)), 'refused', pair);
});

test('MD5 is possible, and an outdated hash is a warning with its place', () => {
  const md5 = '{ type: hmac, algorithm: md5, sign: body, header: X-Sig }';
  assert.equal(verdict(md5, { 'x-sig': mac('md5', body, 'hex') }), 'verified');
  const text = `connector: pms\npush:\n  verification: ${md5}\n`;
  const { kind, warnings } = checkFiles([{ kind: 'connector', file: 'connectors/pms.yaml', text }]);
  assert.equal(kind, 'ok');
  assert.deepEqual(
    warnings.map(({ line, column, path }) => [line, column, path]),
    [[3, 42, 'push.verification.algorithm']],
  );
});

test('a placeholder that a signed text cannot have is named', () => {
  const wrong = connectorSchema.safeParse({
    connector: 'pms',
    push: { verification: { type: 'hmac', sign: '{path}{body}', header: 'X-Sig' } },
  });
  assert.match(JSON.stringify(wrong.error?.issues), /\{path\} is not a placeholder here/);
});
