import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { answering, challengeIn } from '../../../src/core/outbound/auth/digest.ts';
import { list, setUpAsking } from '../../intake/pull/support/asking.ts';
import { sync } from '../../intake/pull/support/runtime.ts';

const { runtime, partnerOf } = setUpAsking();
const day = { from: '2026-03-02', to: '2026-03-02' };

/** The example of RFC 7616, section 3.9.1. */
const offer = (algorithm: string) =>
  `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;
const mufasa = { type: 'digest', username: 'Mufasa', password: 'Circle of Life' } as const;
const request = {
  method: 'GET',
  url: 'http://www.example.org/dir/index.html',
  pathQuery: '/dir/index.html',
  headers: {},
};
const moment = { count: 1, cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ' };

for (const [header, response, algorithm] of [
  [offer('MD5'), '8ca523f5e9506fed4657c9700eebdbec', 'MD5'],
  [offer('SHA-256'), '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1', 'SHA-256'],
  [
    `Basic realm="x", ${offer('MD5')}, ${offer('SHA-256')}`,
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
    'SHA-256',
  ],
] as const) {
  test(`the example of RFC 7616 (${algorithm}${header.startsWith('Basic') ? ', beside others' : ''})`, () => {
    const challenge = challengeIn(header);
    assert.ok(challenge);
    const { Authorization: sent = '' } = answering(request as never, mufasa, challenge, moment).headers as Record<
      string,
      string
    >;
    for (const part of [
      `response="${response}"`,
      `algorithm=${algorithm}`,
      'qop=auth',
      'nc=00000001',
      'uri="/dir/index.html"',
    ])
      assert.ok(sent.includes(part), `${part} in ${sent}`);
  });
}

test('a challenge that nobody here can answer is none', () => {
  for (const header of [
    undefined,
    'Basic realm="x"',
    'Digest realm="x", nonce="n", algorithm=SHA-512-256',
    'Digest realm="x"',
    'Digest nonce="n", qop="other"',
  ])
    assert.equal(challengeIn(header), undefined, `${header}`);
});

test('a run answers the challenge once, counts its requests, and answers a new one when the nonce is stale', async () => {
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');
  let nonce = 'n1';
  const counts: string[] = [];
  const partner = await partnerOf(({ headers, pathQuery, query }) => {
    const sent = Object.fromEntries(
      [...String(headers.authorization).matchAll(/(\w+)="?([^",]*)/g)].map(([, k = '', v = '']) => [k, v]),
    );
    const wanted = md5(
      [md5('hotel:stays:s3cret'), nonce, sent.nc, sent.cnonce, 'auth', md5(`GET:${pathQuery}`)].join(':'),
    );
    if (sent.response !== wanted)
      return {
        status: 401,
        headers: { 'www-authenticate': `Digest realm="stays", qop="auth", nonce="${nonce}", stale=true` },
        json: {},
      };
    counts.push(`${sent.nonce} ${sent.nc}`);
    if (counts.length === 2) nonce = 'n2';
    return query.get('offset') === '0' ? list : { json: { reservations: [] } };
  });
  const auth = { type: 'digest', username: 'hotel', password: 's3cret' };
  const run = (integration: string, pull: object) =>
    sync(runtime.ports({ integration, baseUrl: partner.url, pull: { auth, ...pull } }), integration, day);
  assert.equal((await run('digest', {})).state, 'complete');
  assert.equal((await run('digest', {})).state, 'complete');
  assert.deepEqual(counts, ['n1 00000001', 'n1 00000002', 'n2 00000001', 'n2 00000002']);
  const wrong = await run('digest-2', { auth: { ...auth, password: 'other' } });
  assert.equal(wrong.error?.code, 'pull.auth_failed');
});
