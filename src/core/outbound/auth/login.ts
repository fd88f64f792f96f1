import { messageIn } from '../../../kit/own-words.ts';
import type { IntegrationName, Json } from '../../../terms.ts';
import type { LoginAuth } from '../../documents/pull.ts';
import { answerReader, masked, partnerMessage, readAnswer } from '../ask/answer.ts';
import type { AskPorts, Renewal } from '../ask/ports.ts';
import { nested, type OpenRequest, openRequest, toWire, withParts } from '../ask/request.ts';
import type { HttpAnswer } from '../http.ts';
import { secretsOf } from './fixed.ts';
import { type Bearer, type BearerGot, storedToken } from './oauth2.ts';
import { statedLifetimeMs } from './token-request.ts';

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
  if (place === undefined) return withParts(request, { headers: { [header]: text } });
  if (place.part === 'query') return withParts(request, { query: { [place.keys[0]]: text } });
  return withParts(request, { body: request.body && nested(place.keys, text) });
}

async function requestLogin(
  ports: Pick<AskPorts, 'http' | 'clock'>,
  baseUrl: string,
  login: LoginAuth,
): Promise<Renewal> {
  const askedAt = ports.clock.now();
  const wire = toWire(openRequest(login, baseUrl, {}));
  const answered = await ports.http.request({ ...wire, deadlineMs, idleMs: deadlineMs, expects: 'short' });
  if (answered.kind === 'failed') return { kind: 'failed', message: `the login call: ${answered.message}` };
  const read = readAnswer(answered.bytes, answered.headers['content-type']);
  const body = read.kind === 'ok' ? read.body : null;
  const token = answerReader(login.token)(body, answered.headers);
  if (answered.status < 300 && (typeof token === 'string' || typeof token === 'number') && token !== '') {
    const stated = login.expires_in === undefined ? undefined : answerReader(login.expires_in)(body, answered.headers);
    const lifetimeMs = statedLifetimeMs(stated, askedAt) ?? login.lifetimeMs;
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
function saidIn(answer: HttpAnswer, body: Json, secrets: readonly string[]): string | undefined {
  if (answer.status >= 300) return partnerMessage(answer.bytes, secrets);
  const words = messageIn(body);
  return words === undefined ? undefined : masked(words, secrets);
}
