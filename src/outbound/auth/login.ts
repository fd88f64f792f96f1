import type { LoginAuth } from '../../documents/pull.ts';
import { messageIn } from '../../kit/own-words.ts';
import type { IntegrationName, Json, JsonObject } from '../../terms.ts';
import { masked, partnerMessage, readAnswer } from '../ask/answer.ts';
import { answerReader } from '../ask/answer-reader.ts';
import type { AskPorts } from '../ask/ports.ts';
import { type OpenRequest, openRequest, toWire } from '../ask/request.ts';
import type { Answer } from '../http.ts';
import { withFixed, withHeaders } from './fixed.ts';
import { type Bearer, type BearerGot, storedToken } from './oauth2.ts';
import { secretsOf } from './secrets.ts';
import { statedLifetimeMs } from './token-request.ts';
import type { Renewal } from './token-store.ts';

const deadlineMs = 20_000;

/** A token from the partner's own login call, kept and renewed like an OAuth token: encrypted, renewed before it expires, once for all nodes. */
export function loginToken(
  ports: Pick<AskPorts, 'tokens' | 'clock' | 'http'>,
  integration: IntegrationName,
  baseUrl: string,
  login: LoginAuth,
  refused: Bearer | undefined,
): Promise<BearerGot> {
  const { method, path, body = {}, query = {}, headers = {} } = login;
  const identity = JSON.stringify(['login', baseUrl, method, path, login.token]);
  const madeWith = [body, query, headers];
  return storedToken(ports, integration, { identity, refused, lostCode: 'pull.auth_failed', madeWith }, () =>
    requestLogin(ports, baseUrl, login),
  );
}

/** The request with the token in its header, its query or its body. */
export function withLoginToken(request: OpenRequest, { header, place, value }: LoginAuth, token: string): OpenRequest {
  const text = value.replaceAll('{token}', token);
  if (place === undefined) return withHeaders(request, { [header]: text });
  if (place.part === 'query') return withFixed(request, { type: 'custom', query: { [place.keys[0]]: text } });
  const body = place.keys.reduceRight<Json>((inner, key) => ({ [key]: inner }), text) as JsonObject;
  return withFixed(request, { type: 'custom', body });
}

async function requestLogin(
  ports: Pick<AskPorts, 'http' | 'clock'>,
  baseUrl: string,
  login: LoginAuth,
): Promise<Renewal> {
  const wire = toWire(openRequest(login, baseUrl, {}));
  const askedAt = ports.clock.now();
  const answered = await ports.http.request({
    method: wire.method,
    url: wire.url,
    headers: wire.headers,
    ...(wire.body !== undefined && { body: wire.body }),
    deadlineMs,
    idleMs: deadlineMs,
    expects: 'short',
  });
  if (answered.kind === 'failed') return { kind: 'failed', message: `the login call: ${answered.message}` };
  const read = readAnswer(answered.bytes, answered.headers['content-type']);
  const body = read.kind === 'ok' ? read.body : null;
  const token = answerReader(login.token)(body, answered.headers);
  if (answered.status < 300 && (typeof token === 'string' || typeof token === 'number') && token !== '') {
    const stated = login.expires_in === undefined ? undefined : answerReader(login.expires_in)(body, answered.headers);
    const lifetimeMs = statedLifetimeMs(stated) ?? login.lifetimeMs;
    return { kind: 'renewed', tokens: { accessToken: String(token), expiresAt: askedAt + lifetimeMs } };
  }
  const said = saidIn(answered, body, secretsOf(login));
  const message =
    answered.status < 300
      ? `the login call answered without a token at ${login.token}`
      : `the login call answered ${answered.status}`;
  const isFinal = answered.status < 300 || [400, 401, 403].includes(answered.status);
  return { kind: isFinal ? 'lost' : 'failed', message, ...(said !== undefined && { said }) };
}

/** A successful answer may hold a token under another name, so only its message is kept. */
function saidIn(answer: Answer, body: Json, secrets: readonly string[]): string | undefined {
  if (answer.status >= 300) return partnerMessage(answer.bytes, secrets);
  const words = messageIn(body);
  return words === undefined ? undefined : masked(words, secrets);
}
