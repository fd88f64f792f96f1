import { foreignText } from '../../../kit/foreign-text.ts';
import { parseForeignJson } from '../../../kit/json.ts';
import { type EpochMs, isObject, type Json } from '../../../terms.ts';
import type { OAuth2 } from '../../documents/pull.ts';
import { partnerMessage } from '../ask/answer.ts';
import type { AskPorts, Renewal, TokenSet } from '../ask/ports.ts';
import type { HttpAnswer } from '../http.ts';

const deadlineMs = 20_000;

/**
 * Requests a token (RFC 6749, 3.2) and tolerates what real token addresses answer: 200 or 201, no token_type, camel case, numbers
 * as text, everything inside `data`.
 */
export async function requestToken(
  ports: Pick<AskPorts, 'http' | 'clock'>,
  oauth: OAuth2,
  parameters: Readonly<Record<string, string>>,
): Promise<Renewal> {
  const asksScope = parameters.grant_type !== 'authorization_code' && oauth.scopes.length > 0;
  const body = new URLSearchParams({
    ...oauth.params,
    ...(asksScope && { scope: oauth.scopes.join(' ') }),
    ...(oauth.audience !== undefined && { audience: oauth.audience }),
    ...parameters,
  });
  const headers: Record<string, string> = { ...oauth.headers };
  if (oauth.client_secret === undefined || oauth.client_auth === 'post') {
    body.set('client_id', oauth.client_id);
    if (oauth.client_secret !== undefined) body.set('client_secret', oauth.client_secret);
  } else {
    const pair = `${formEncoded(oauth.client_id)}:${formEncoded(oauth.client_secret)}`;
    headers.authorization = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  }
  const secrets = [oauth.client_secret ?? '', ...Object.values(oauth.headers ?? {}), ...Object.values(parameters)];
  return sendTokenRequest(ports, { url: oauth.token_url, headers, body, secrets });
}

/** `secrets` are masked in what the answer says. */
export async function sendTokenRequest(
  { http, clock }: Pick<AskPorts, 'http' | 'clock'>,
  { url, headers = {}, body, secrets }: TokenRequest,
): Promise<Renewal> {
  const askedAt = clock.now();
  const answered = await http.request({
    method: 'POST',
    url,
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: body.toString(),
    deadlineMs,
    idleMs: deadlineMs,
    expects: 'short',
  });
  if (answered.kind === 'failed') {
    const isBlocked = answered.reason === 'blocked';
    return { kind: 'failed', message: `the token address: ${answered.message}`, isBlocked };
  }
  if (answered.status === 200 || answered.status === 201) return readTokens(answered, askedAt);
  return refusal(answered, secrets, askedAt);
}

interface TokenRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: URLSearchParams;
  readonly secrets: readonly string[];
}

/** A signed statement is refused if its time is wrong: the difference to the other side's clock, in words. Empty if it is small or not known. */
export function clockDifference({ date = '' }: HttpAnswer['headers'], nowMs: number): string {
  const minutes = Math.round((nowMs - Date.parse(date)) / 60_000);
  if (!minutes) return '';
  const side = minutes > 0 ? 'ahead of' : 'behind';
  return `; our clock is ${Math.abs(minutes)} min ${side} theirs: correct the clock of this machine or of the database`;
}

/** RFC 6749, 2.3.1: id and secret are form-encoded before Basic. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function readTokens(answer: HttpAnswer, askedAt: number): Renewal {
  const body = parsed(answer.bytes);
  const inner = isObject(body) && isObject(body.data) ? body.data : body;
  const accessToken = text(inner, 'access_token', 'accessToken', 'token', 'AccessToken');
  if (accessToken === undefined) return { kind: 'failed', message: 'the token address answered without a token' };
  const refreshToken = text(inner, 'refresh_token', 'refreshToken', 'RefreshToken');
  const lifetimeMs = statedLifetimeMs(text(inner, 'expires_in', 'expiresIn', 'ExpiresIn', 'expires'), askedAt);
  const tokens: TokenSet = {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetimeMs !== undefined && { expiresAt: askedAt + lifetimeMs }),
  };
  return { kind: 'renewed', tokens };
}

const longestMs = 365 * 24 * 3_600_000;

/**
 * The lifetime of a token, which an answer states in seconds, or as the time when it ends; one without a zone counts as UTC, and one that is
 * over says nothing. At most a year: PostgreSQL has no date for some numbers.
 */
export function statedLifetimeMs(stated: Json | undefined, now: EpochMs): number | undefined {
  const text = typeof stated === 'string' ? stated.trim() : '';
  const ends = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/.test(text) ? `${text.replace(' ', 'T')}Z` : text;
  const ms = /^\d{4}-/.test(text) ? Date.parse(ends) - now : Number(stated) * 1_000;
  return ms > 0 ? Math.min(ms, longestMs) : undefined;
}

/** A 4xx with an OAuth error is final; anything else may be retried. */
function refusal(answer: HttpAnswer, secrets: readonly string[], nowMs: number): Renewal {
  const body = parsed(answer.bytes);
  // A successful answer may hold a token.
  const said = answer.status < 300 ? undefined : partnerMessage(answer.bytes, secrets);
  const code = text(body, 'error');
  const skew = clockDifference(answer.headers, nowMs);
  const message = `the token address answered ${answer.status}${code === undefined ? '' : ` (${foreignText(code)})`}${skew}`;
  const isFinal = [400, 401, 403].includes(answer.status) && code !== 'temporarily_unavailable';
  return { kind: isFinal ? 'lost' : 'failed', message, ...(said !== undefined && { said }) };
}

function parsed(bytes: Uint8Array): Json {
  try {
    return parseForeignJson(Buffer.from(bytes).toString('utf8'));
  } catch {
    return null;
  }
}

function text(value: Json | undefined, ...names: readonly string[]): string | undefined {
  if (!isObject(value)) return undefined;
  for (const name of names) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof field === 'string' && field !== '') return field;
    if (typeof field === 'number') return String(field);
  }
  return undefined;
}
