import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { WebSocketServer } from 'ws';
import { destinationType as http } from '../src/core/deliver/destinations/http/destination.ts';
import { failureOf } from '../src/core/deliver/destinations/postgres/failure.ts';
import { destinationType as s3 } from '../src/core/deliver/destinations/s3/destination.ts';
import { destinationType as webhook } from '../src/core/deliver/destinations/webhook/destination.ts';
import { linkPaginator } from '../src/core/intake/pull/page/paginate.ts';
import { converse } from '../src/core/intake/stream/conversation.ts';
import { readAnswer } from '../src/core/outbound/ask/answer.ts';
import { outline } from '../src/core/outbound/ask/exchange.ts';
import { finishConsent } from '../src/core/outbound/auth/consent.ts';
import { requestToken } from '../src/core/outbound/auth/token-request.ts';
import { socketsOf } from '../src/core/outbound/web-socket.ts';
import { systemClock } from '../src/kit/clock.ts';
import { foreignText } from '../src/kit/foreign-text.ts';
import { strictLimits } from '../src/kit/json.ts';
import type { RouteSettings } from '../src/operator/watch/routes/route.ts';
import { sendNotice } from '../src/operator/watch/routes/send.ts';
import { delivery, reservation, services } from './deliver/support.ts';

/**
 * Every place where a text of a remote could get into a message that viewers, logs and alerts show. The remotes answer with a guest's data
 * and control characters wherever they can put a text.
 */
const guest = ['Marisol', 'Quintanilha', 'marisol@mail.example', '912345678', 'elsewhere.example'];
/** Parts of a phone number, a birth date, an address, a document and a card. */
const groups = ['917', '346', '698', '14/03', '87', '1149', '052', '4929', '1112', '2223', 'AB', '761', '853'];
const said = [
  'Marisol Quintanilha marisol@mail.example 912345678 is not valid',
  'phone 917 346 698, birth date 14/03/87, address Rua Augusta 14, 1149-052',
  'card 4929 1112 2223, identity AB 761-853',
].join(' ');
const inHeader = 'marisol-quintanilha-912345678.elsewhere.example';

function assertClean(message: string | undefined, place: string): void {
  assert.ok(message !== undefined && message !== '', `${place}: no message`);
  for (const one of guest) assert.ok(!message.toLowerCase().includes(one.toLowerCase()), `${place}: ${message}`);
  // A port that the system chose may have the same digits.
  const text = message.replace(/127\.0\.0\.1:\d+/g, '');
  for (const one of groups) assert.ok(!text.includes(one), `${place}: ${one} in ${message}`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(message, /[\u0000-\u001f\u007f-\u009f]/, place);
}

async function remote(t: TestContext, answer: RequestListener) {
  const server = createServer(
    (request, response) => void request.resume().once('end', () => answer(request, response)),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, offered };
}

const says =
  (status: number, body: unknown, headers = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
const signal = new AbortController().signal;
const limits = { batch: 10, deadlineMs: 30_000, leaseLeftMs: () => 60_000, extend: async () => true, signal };
const wrapped = `\u001b[31m${said}\r\n\u0007`;
const oauth = {
  type: 'oauth2',
  grant: 'client_credentials',
  clientId: 'id',
  clientSecret: 'secret',
  clientAuth: 'post',
  scopes: [],
  params: {},
  headers: {},
} as const;

const places: Readonly<Record<string, (t: TestContext) => Promise<string | undefined>>> = {
  'the code of an S3 error': async (t) => {
    const { url, offered } = await remote(
      t,
      says(500, `<Error><Code>${said}</Code><Message>${said}</Message></Error>`),
    );
    const credentials = { access_key_id: 'a', secret_access_key: 'b' };
    const settings = s3.settings.parse({ bucket: 'lake', endpoint: url, addressing: 'path', credentials });
    const [outcome] = await s3.open(settings, offered).deliver([delivery(reservation('r'))], limits);
    return (outcome as { message?: string }).message;
  },
  'code and reason of a refused item': async (t) => {
    const { url, offered } = await remote(t, says(200, { errors: [{ id: 'r', code: wrapped, why: wrapped }] }));
    const answer = { errors: 'errors', keys: ['id'], code: 'code', message: 'why' };
    const settings = http.settings.parse({ url, unique: '{data.id}', answer });
    const two = ['r', 's'].map((id) => delivery(reservation(id)));
    const [outcome] = await http.open(settings, offered).deliver(two, limits);
    return (outcome as { message?: string }).message;
  },
  'code and reason of a refused request': async (t) => {
    const { url, offered } = await remote(t, says(400, { code: 'Marisol_Quintanilha', why: wrapped }));
    const settings = http.settings.parse({ url, failure: { code: 'code', message: 'why' } });
    const [outcome] = await http.open(settings, offered).deliver([delivery(reservation('r'))], limits);
    return (outcome as { message?: string }).message;
  },
  'the answer to a webhook': async (t) => {
    const { url, offered } = await remote(t, says(400, wrapped));
    const settings = webhook.settings.parse({ url, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` });
    const [outcome] = await webhook.open(settings, offered).deliver([delivery(reservation('r'))], limits);
    return (outcome as { message?: string }).message;
  },
  'the explanation of a server error': async (t) => {
    const { url, offered } = await remote(t, says(503, { error: { message: `${wrapped}, down for maintenance` } }));
    const [outcome] = await http
      .open(http.settings.parse({ url }), offered)
      .deliver([delivery(reservation('r'))], limits);
    const { message = '' } = outcome as { message?: string };
    assert.match(message, /^The destination answered 503: .* is not valid .*, down for maintenance\.$/);
    return message;
  },
  'an error of the warehouse': async () => {
    const fields = { column: wrapped, constraint: wrapped, table: wrapped, schema: wrapped, detail: wrapped };
    const codes = ['42P01', '23505', '22001', '28000', '57014', '08006', 'XX000', wrapped, '28\u001b[3', '912345678'];
    return codes
      .map((code) => (failureOf(Object.assign(new Error(wrapped), { ...fields, code })) as { message: string }).message)
      .join(' ');
  },
  'a refusal of a partner, as the last request shows it': async () =>
    [JSON.stringify({ error: wrapped }), wrapped].map((text) => outline(Buffer.from(text), 400)).join(' '),
  'the content type of an answer': async () => {
    const read = [Buffer.from('<html>'), Buffer.from('nothing')].map((bytes) => readAnswer(bytes, wrapped));
    return read.map((one) => (one.kind === 'unreadable' ? one.message : '')).join(' ');
  },
  'the error of a token address': async (t) => {
    const { url, offered } = await remote(t, says(400, { error: wrapped, error_description: wrapped }));
    const got = await requestToken(
      { http: offered.http, clock: systemClock },
      { ...oauth, tokenUrl: url } as never,
      {},
    );
    return (got as { message?: string }).message;
  },
  'the error of a consent': async () => {
    const tokens = { takeConsent: async () => ({ integration: 'grand', redirectUri: '', verifier: undefined }) };
    const query = new URLSearchParams({ state: 's', error: wrapped, error_description: wrapped });
    return ((await finishConsent({ tokens } as never, query)) as { message?: string }).message;
  },
  'the error of a subscription': async (t) => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    t.after(() => server.close());
    server.on('connection', (socket) =>
      socket.on('message', (data) => {
        const isFirst = String(data).includes('connection_init');
        socket.send(
          JSON.stringify(isFirst ? { type: 'connection_ack' } : { type: 'error', payload: [{ message: wrapped }] }),
        );
      }),
    );
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const openSocket = socketsOf({ allowPrivate: true, userAgent: 'test' }, systemClock);
    const settings = { openSocket, clock: systemClock, pingMs: 1_000, jsonLimits: strictLimits };
    const opening = {
      kind: 'ok',
      url,
      init: {},
      subscribe: { query: 'subscription { a }' },
      endsAt: undefined,
    } as const;
    return (await converse(settings, opening, { next: () => {}, idle: () => {} }).closed).said;
  },
  'the next page of a list': async () => {
    const page = { url: 'https://pms.example/list', headers: { link: `<https://${inHeader}/>; rel=next` } };
    const next = linkPaginator({ type: 'link', pageSize: 10 } as never, new Set()).after({ url: null }, page as never);
    return (next as { message?: string }).message;
  },
  'headers of any answer': async (t) => {
    const answers = [
      says(302, '', { location: `https://${inHeader}/` }),
      says(200, 'x', { 'content-encoding': inHeader }),
    ];
    const messages = await Promise.all(
      answers.map(async (answer) => {
        const { url, offered } = await remote(t, answer);
        const times = { deadlineMs: 5_000, idleMs: 5_000 };
        const got = await offered.http.request({ method: 'GET', url, headers: {}, ...times, expects: 'short' });
        return (got as { message?: string }).message;
      }),
    );
    return messages.join(' ');
  },
  'a mail server and an alert route': async (t) => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => {});
      socket.write(`554 ${said}\r\n`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    t.after(() => server.close());
    const { url, offered } = await remote(t, says(500, wrapped));
    const open = async (host: string) => {
      const socket = connect({ host, port });
      await once(socket, 'connect');
      return socket;
    };
    const alert = {
      alert_id: 'a',
      kind: 'test',
      integration: '',
      subject: '',
      severity: 'warning',
      message: 'm',
      raised_at: new Date(0),
      resolved_at: null,
    } as const;
    const ports = { http: offered.http, mail: { connect: open }, now: Date.now };
    const email: RouteSettings = {
      type: 'email',
      host: '127.0.0.1',
      port,
      security: 'none',
      from: 'a@hotels.example',
      to: ['b@hotels.example'],
      severities: [],
    };
    const slack: RouteSettings = { type: 'slack', url, severities: [] };
    const sent = [email, slack].map((route) => sendNotice(route, { alert, news: 'raised', link: undefined }, ports));
    return (await Promise.all(sent)).map((one) => (one.kind === 'failed' ? one.message : '')).join(' ');
  },
};

for (const [place, messageOf] of Object.entries(places)) {
  test(`${place}: known words stay, anything else is dropped`, async (t) => assertClean(await messageOf(t), place));
}

test('the places that show a text of a remote are the ones listed here', () => {
  const root = new URL('../src/', import.meta.url);
  const users = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && readFileSync(new URL(file, root), 'utf8').includes('foreignText('),
  );
  assert.deepEqual(users.sort(), [
    'core/deliver/destinations/postgres/failure.ts',
    'core/deliver/destinations/s3/destination.ts',
    'core/deliver/http-answer.ts',
    'core/deliver/warehouse/dialect.ts',
    'core/intake/stream/conversation.ts',
    'core/outbound/ask/answer.ts',
    'core/outbound/ask/exchange.ts',
    'core/outbound/auth/consent.ts',
    'core/outbound/auth/token-request.ts',
    'kit/foreign-text.ts',
    'operator/operations/oidc-provider.ts',
  ]);
});

/** Also full-width and Arabic ones. */
const digit = fc.constantFrom(...'0123456789', ...'0123456789', ...'０１２３４５６７８９٠١٢٣٤٥٦٧٨٩');
const digits = (min: number, max: number) =>
  fc.array(digit, { minLength: min, maxLength: max }).map((all) => all.join(''));
const separator = fc.constantFrom(...' ./-:,;()\u00a0\u2013\u2022+*|\\\t\n#_', '', ' / ', ') ', '" "', ' - ');
/** The same digits in any groups. */
const grouped = (number: fc.Arbitrary<string>) =>
  fc
    .tuple(number, fc.array(separator, { minLength: 20, maxLength: 20 }))
    .map(([all, between]) => Array.from(all, (one, i) => one + (i < all.length - 1 ? between[i] : '')).join(''));
const two = digits(2, 2);
const personal: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'a phone number': grouped(digits(7, 13)),
  'a card': grouped(digits(13, 19)),
  'a document': fc
    .tuple(fc.stringMatching(/^[A-Z]{0,3}$/), grouped(digits(6, 9)), fc.stringMatching(/^[A-Z]?$/))
    .map((all) => all.join('')),
  'a birth date': fc.oneof(
    grouped(digits(4, 8)),
    fc.tuple(two, fc.constantFrom('March', 'mar', 'març', '三月'), two).map((all) => all.join(' ')),
    fc
      .tuple(fc.constantFrom('March', 'Mar.'), two, digits(4, 4))
      .map(([month, day, year]) => `${month} ${day}, ${year}`),
  ),
  'an address': fc
    .tuple(fc.constantFrom('Rua Augusta', 'Hauptstraße', 'Baker'), two, grouped(digits(4, 7)))
    .map(([street, house, post]) => `${street} ${house}, ${post} Lisboa`),
};
const sentence = fc.array(
  fc.constantFrom(
    'phone',
    'password',
    'row',
    'status',
    'field',
    'error',
    'is',
    'not',
    'HTTP',
    'characters',
    'seconds',
    'code',
    'birth',
    'at',
    'index',
  ),
  { maxLength: 3 },
);

for (const [what, one] of Object.entries(personal)) {
  test(`property: no digit of ${what} survives, in any grouping and any sentence`, () => {
    fc.assert(
      fc.property(sentence, one, sentence, (before, datum, after) => {
        assert.doesNotMatch(foreignText([...before, datum, ...after].join(' ')), /\p{N}/u);
      }),
      { numRuns: 2_000 },
    );
  });
}

test('what helps an operator stays', () => {
  for (const text of [
    'AccessDenied',
    'SlowDown',
    'NoSuchBucket',
    'invalid_client',
    'Invalid email address',
    'PROPERTY_DOES_NOT_EXIST',
    'text/html; charset=utf-8',
    'HTTP 429: too many requests',
    'error code 404, status 503',
    'field 12 exceeds 100 characters',
    'syntax error at position 7',
    'retry after 30 seconds',
  ]) {
    assert.equal(foreignText(text), text);
  }
  assert.equal(foreignText('Grace is not a valid name'), '… is not a valid name');
  assert.equal(foreignText(`${'x'.repeat(10_000)}`), '…');
});
