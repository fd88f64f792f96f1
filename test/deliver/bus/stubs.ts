/** Pub/Sub, EventBridge and Service Bus as their documentation describes them. What it does not allow is refused. */
import assert from 'node:assert/strict';
import { createHash, createHmac, createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import type { JsonObject } from '../../../src/terms.ts';
import { listen, type Received, type Reply } from '../http-server.ts';

/** One event as its bus keeps it. */
export interface Kept {
  readonly order: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: string;
}

type Answering = (request: Received) => Reply;

/** An answer that is refused where the stub's own checks fail, and one that the test may put in its place. */
async function stub(answer: Answering) {
  const state: {
    fault: ((request: Received) => Reply | 'hang' | 'cut' | undefined) | undefined;
    readonly wrong: string[];
  } = {
    fault: undefined,
    wrong: [],
  };
  const server = await listen((request) => {
    const fault = state.fault?.(request);
    if (fault !== undefined) return fault;
    try {
      return answer(request);
    } catch (error) {
      state.wrong.push((error as Error).message);
      return { status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT' }, __type: 'ValidationException' } };
    }
  });
  return Object.assign(state, { url: server.url, received: server.received, close: server.close });
}

const hex = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Signature Version 4, computed here from its description. */
function isSigned({ method, path, headers, text }: Received, secret: string): boolean {
  const [, scope = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIDTEST\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const [day = '', region = '', service = ''] = scope.split('/');
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}`);
  const canonical = [method, path, '', ...lines, '', signed, hex(text)].join('\n');
  const time = String(headers['x-amz-date']);
  const key = ['aws4_request', service, region, day].reduceRight(
    (made, part) => hmac(made, part) as never,
    `AWS4${secret}` as string | Buffer,
  );
  const needed = ['host', 'x-amz-date', 'content-type', 'x-amz-target'];
  return (
    needed.every((name) => signed.split(';').includes(name)) &&
    hmac(key, ['AWS4-HMAC-SHA256', time, scope, hex(canonical)].join('\n')).toString('hex') === signature
  );
}

export async function eventBridge() {
  const kept: Kept[] = [];
  const refused = new Set<string>();
  const made = await stub((request) => {
    if (!isSigned(request, 'secret')) return { status: 403, body: { __type: 'AccessDeniedException' } };
    const target = request.headers['x-amz-target'];
    const body = request.body as { Name?: string; Entries: JsonObject[] };
    assert.equal(request.headers['content-type'], 'application/x-amz-json-1.1');
    if (target === 'AWSEvents.DescribeEventBus') {
      const isThere = body.Name === 'changes';
      return isThere
        ? { status: 200, body: { Name: body.Name } }
        : { status: 400, body: { __type: 'ResourceNotFoundException' } };
    }
    assert.equal(target, 'AWSEvents.PutEvents');
    assert.ok(body.Entries.length >= 1 && body.Entries.length <= 10, 'entries');
    assert.ok(request.text.length <= 1_048_576, 'size');
    if (body.Entries.some(({ EventBusName }) => EventBusName !== 'changes')) {
      return { status: 400, body: { __type: 'com.amazonaws.events#ResourceNotFoundException' } };
    }
    const Entries = body.Entries.map((entry) => {
      const { EventBusName: _, Source, DetailType, Detail, Time, ...unknown } = entry as Record<string, string>;
      assert.deepEqual([unknown, Source, typeof Time], [{}, 'innbound', 'number']);
      const { data, ...attributes } = JSON.parse(Detail ?? '');
      assert.equal(`com.innbound.${DetailType}.v1`, attributes.type);
      if (refused.has(attributes.subject)) return { ErrorCode: 'MalformedDetail', ErrorMessage: 'no' };
      kept.push({ order: attributes.partitionkey, attributes, body: /"data":(.*)\}$/s.exec(Detail ?? '')?.[1] ?? '' });
      assert.equal(data.idempotency_key, attributes.id);
      return { EventId: crypto.randomUUID() };
    });
    return { status: 200, body: { FailedEntryCount: Entries.filter((one) => 'ErrorCode' in one).length, Entries } };
  });
  return Object.assign(made, { kept, refused });
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export async function pubSub() {
  const kept: Kept[] = [];
  const refused = new Set<string>();
  const tokens = new Set<string>();
  const topic = '/v1/projects/hotel-data/topics/changes';
  const made = await stub((request) => {
    if (request.path === '/token') {
      const form = new URLSearchParams(request.text);
      const [head = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? [];
      const isRight = createVerify('RSA-SHA256')
        .update(`${head}.${claims}`)
        .verify(createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature, 'base64url');
      const { scope } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      if (!isRight || scope !== 'https://www.googleapis.com/auth/pubsub')
        return { status: 400, body: { error: 'invalid_grant' } };
      const token = `ya29.${tokens.size}`;
      tokens.add(token);
      return { status: 200, body: { access_token: token, expires_in: 3599, token_type: 'Bearer' } };
    }
    if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      return { status: 401, body: { error: { code: 401, status: 'UNAUTHENTICATED' } } };
    }
    if (request.method === 'GET' && request.path === topic) return { status: 200, body: { name: topic.slice(4) } };
    if (request.path !== `${topic}:publish`)
      return { status: 404, body: { error: { code: 404, status: 'NOT_FOUND' } } };
    const { messages, ...unknown } = request.body as unknown as {
      messages: { data: string; attributes: Record<string, string>; orderingKey: string }[];
    };
    assert.deepEqual(unknown, {});
    assert.equal(new Set(messages.map(({ orderingKey }) => orderingKey)).size, 1, 'one ordering key');
    for (const { data, attributes, orderingKey, ...more } of messages) {
      assert.deepEqual(more, {});
      assert.ok(Object.keys(attributes).length <= 100 && orderingKey.length <= 1_024);
      const body = Buffer.from(data, 'base64').toString();
      if (refused.has(attributes['ce-subject'] ?? ''))
        return { status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT' } } };
      kept.push({ order: orderingKey, attributes, body });
    }
    return { status: 200, body: { messageIds: messages.map((_, i) => String(kept.length + i)) } };
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const credentials = JSON.stringify({
    client_email: 'innbound@hotel.example',
    private_key: key,
    private_key_id: 'k1',
    token_uri: `${made.url}/token`,
  });
  return Object.assign(made, { kept, refused, credentials, forgetTokens: () => tokens.clear() });
}

export async function serviceBus({ isDetecting = true } = {}) {
  const kept: Kept[] = [];
  const refused = new Set<string>();
  const seen = new Set<string>();
  const made = await stub((request) => {
    const [, sr = '', sig = '', se = '', skn] =
      /^SharedAccessSignature sr=([^&]+)&sig=([^&]+)&se=(\d+)&skn=(.+)$/.exec(request.headers.authorization ?? '') ??
      [];
    const expected = createHmac('sha256', 'c2VjcmV0').update(`${sr}\n${se}`).digest('base64');
    const isRight = decodeURIComponent(sig) === expected && Number(se) * 1_000 > Date.now() && skn === 'send';
    if (!isRight || decodeURIComponent(sr) !== 'https://hotel-data.servicebus.windows.net/changes')
      return { status: 401 };
    if (request.path !== '/changes/messages' || request.method !== 'POST') return { status: 404 };
    assert.equal(request.headers['content-type'], 'application/vnd.microsoft.servicebus.json');
    if (request.text.length > 256 * 1_024) return { status: 403, body: 'The request size exceeds the limit' };
    const batch = request.body as unknown as {
      Body: string;
      BrokerProperties: Record<string, string>;
      UserProperties: Record<string, string>;
    }[];
    if (batch.some(({ UserProperties }) => refused.has(UserProperties['cloudEvents:subject'] ?? '')))
      return { status: 400 };
    for (const { Body, BrokerProperties, UserProperties, ...unknown } of batch) {
      const { MessageId = '', SessionId = '', Label, ...more } = BrokerProperties;
      assert.deepEqual([unknown, more], [{}, {}]);
      assert.ok(Label && SessionId && SessionId.length <= 128 && MessageId && MessageId.length <= 128);
      if (isDetecting && seen.has(MessageId)) continue;
      seen.add(MessageId);
      kept.push({ order: SessionId, attributes: UserProperties, body: Body });
    }
    return { status: 201 };
  });
  return Object.assign(made, { kept, refused });
}
