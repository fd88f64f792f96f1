import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { DeliverLimits, Outcome } from '../../../../src/core/deliver/destination.ts';
import { destinationType as s3 } from '../../../../src/core/deliver/destinations/s3/destination.ts';
import { delivery, reservation, services } from '../../support.ts';

/** A storage server that answers as it likes: every answer is an outage of this destination, and costs little. */

const limits: DeliverLimits = {
  batch: 10,
  deadlineMs: 30_000,
  leaseLeftMs: () => 60_000,
  extend: async () => true,
  signal: new AbortController().signal,
};

type Answer = (method: string, url: string, response: ServerResponse) => void;

async function outcomeOf(t: TestContext, answer: Answer, event: 'created' | 'erased' = 'created') {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    requests++;
    request.on('end', () => answer(request.method ?? '', request.url ?? '', response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const offered = services('/');
  t.after(async () => {
    await offered.close();
    server.closeAllConnections();
    server.close();
  });
  const settings = s3.settings.parse({
    bucket: 'lake',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    addressing: 'path',
    credentials: { access_key_id: 'AKIDTEST', secret_access_key: 'secret-access-key-1' },
  });
  const destination = s3.open(settings, offered);
  const [outcome] = await destination.deliver([delivery(reservation('r'), { event })], limits);
  await destination.close();
  return { outcome, requests };
}

/** No status, so the circuit opens and no tries are used up. */
const isOutage = (outcome: Outcome | undefined): boolean =>
  outcome?.kind === 'retry' && outcome.code === 'deliver.unreachable' && outcome.status === undefined;

const xml = (status: number, body: string | Buffer, headers = {}): Answer => {
  return (_method, _url, response) => void response.writeHead(status, headers).end(body);
};

test('an answer to a write, an error or a listing exceeds 1 MiB: an outage', async (t) => {
  const bomb = gzipSync(Buffer.alloc(4 << 20, ' '));
  const padded = `<Error><Code>SlowDown</Code><Message>${'x'.repeat(2 << 20)}</Message></Error>`;
  const answers: Record<string, Answer> = {
    'a gzip bomb for a put': xml(200, bomb, { etag: '"e"', 'content-encoding': 'gzip' }),
    'a large error': xml(500, padded),
    'a large 404': xml(404, padded),
    'a large 412': xml(412, padded),
    'a large listing': (method, _url, response) => {
      if (method === 'PUT') response.writeHead(412).end();
      else response.writeHead(200).end(`<ListBucketResult><Prefix>${'x'.repeat(2 << 20)}</Prefix></ListBucketResult>`);
    },
  };
  for (const [name, answer] of Object.entries(answers)) {
    const { outcome } = await outcomeOf(t, answer);
    assert.ok(isOutage(outcome), `${name}: ${JSON.stringify(outcome)}`);
  }
});

test('an answer that cannot be parsed is an outage, not the fault of a record', async (t) => {
  const nested = '<a>'.repeat(100_000) + '</a>'.repeat(100_000);
  const nonsense: Record<string, Answer> = {
    'a nested error': xml(500, nested),
    'a nested error for a missing object': xml(404, nested),
    'an error that is not XML': xml(500, '<Error><Code>'),
    'a nested listing': (method, _url, response) => {
      if (method === 'PUT') response.writeHead(412).end();
      else response.writeHead(200).end(`<ListBucketResult>${nested}</ListBucketResult>`);
    },
  };
  for (const [name, answer] of Object.entries(nonsense)) {
    const { outcome } = await outcomeOf(t, answer);
    assert.ok(outcome?.kind === 'retry' && outcome.status === undefined, `${name}: ${JSON.stringify(outcome)}`);
  }
});

test('a listing without an end is given up as an outage', async (t) => {
  let page = 0;
  const { outcome, requests } = await outcomeOf(t, (method, _url, response) => {
    if (method === 'PUT') return void response.writeHead(412).end();
    page++;
    response
      .writeHead(200)
      .end(
        `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${page}</NextContinuationToken></ListBucketResult>`,
      );
  });
  assert.ok(isOutage(outcome), JSON.stringify(outcome));
  assert.ok(requests < 1_100, `${requests} requests`);
});

test('no entity of an XML answer is fetched or expanded', async (t) => {
  const fetched: string[] = [];
  const outside = createServer((request, response) => {
    fetched.push(request.url ?? '');
    response.end('fetched-text');
  });
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  t.after(() => outside.close());
  const at = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
  const laughs = Array.from({ length: 12 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
  const documents = [
    `<!DOCTYPE x [<!ENTITY e SYSTEM "${at}/e">]><Error><Code>&e;</Code></Error>`,
    `<!DOCTYPE x SYSTEM "${at}/dtd"><Error><Code>A</Code></Error>`,
    `<!DOCTYPE x [<!ENTITY % p SYSTEM "${at}/p"> %p;]><Error><Code>A</Code></Error>`,
    `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]><Error><Code>&e;</Code></Error>`,
    `<!DOCTYPE x [<!ENTITY l0 "ha">${laughs}]><Error><Code>&l12;</Code></Error>`,
  ];
  for (const document of documents) {
    const { outcome } = await outcomeOf(t, xml(500, document));
    assert.ok(outcome?.kind === 'retry', `${document}: ${JSON.stringify(outcome)}`);
    assert.ok(outcome.message.length < 200 && !outcome.message.includes('fetched'), outcome.message);
  }
  assert.deepEqual(fetched, []);
});
