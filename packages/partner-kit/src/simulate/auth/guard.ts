import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type Answer, bodyObject, type Exchange, json, problem } from '../exchange.ts';
/** Why a request is refused; undefined if it is allowed. */
export type Guard = (
  request: Pick<Exchange, 'method' | 'pathQuery' | 'query' | 'headers' | 'bodyText'>,
) => string | undefined;

/** A method whose tokens are issued by a call of its own. */
export interface TokenServer {
  /** Undefined for other paths. */
  handle(exchange: Exchange): Answer | undefined;
  readonly guard: Guard;
  /** Expires every access token. */
  expireAll(): void;
}

export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** The authentication methods of this API. */
export type SimulatorAuth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly in: 'header' | 'query'; readonly name: string; readonly key: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | OAuth2Settings
  | HmacSettings
  | LoginSettings
  | CustomSettings;

export interface OAuth2Settings {
  readonly type: 'oauth2';
  readonly clientId: string;
  readonly clientSecret: string;
  /** Lifetime of an access token. Default: 300 s. */
  readonly lifetimeSeconds?: number;
  /** Consent without a click, for tests. */
  readonly autoApprove?: boolean;
}

export interface LoginSettings {
  readonly type: 'login';
  readonly user: string;
  readonly password: string;
  /** The header that carries the token. Default: Authorization, with or without Bearer. */
  readonly header?: string;
  /** Lifetime of a token. Default: 300 s. */
  readonly lifetimeSeconds?: number;
}

export interface HmacSettings {
  readonly type: 'hmac';
  readonly secret: string;
  /** Default: sha256, hex. */
  readonly algorithm?: 'sha256' | 'sha512';
  readonly encoding?: 'hex' | 'base64';
  /** What is signed: {timestamp}, {nonce}, {method}, {path_query}, {body}. */
  readonly sign?: string;
  /** The headers that carry {timestamp}, {nonce} and {signature}. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Required values, by place and name. */
interface CustomSettings {
  readonly type: 'custom';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, string>>;
  /** HTTP Basic in addition. */
  readonly basic?: { readonly username: string; readonly password: string };
}

const defaultHmacSign = '{timestamp}.{method}.{path_query}.{body}';
export const defaultHmacHeaders: Readonly<Record<string, string>> = {
  'X-Timestamp': '{timestamp}',
  'X-Signature': '{signature}',
};

/** Extracts timestamp, nonce and signature from the headers, using the client's templates, and compares the signature. */
function hmacGuard(settings: HmacSettings, now: () => number): Guard {
  const templates = Object.entries(settings.headers ?? defaultHmacHeaders).map(([name, template]) => ({
    name,
    reader: reader(template),
  }));
  const seen = new Set<string>();
  return (exchange) => {
    const headers: Record<string, string> = {};
    for (const { name, reader } of templates) {
      const header = exchange.headers[name.toLowerCase()];
      if (header === undefined) return `The header ${name} is missing.`;
      const parts = reader.exec(header);
      if (parts === null) return `The header ${name} does not match its template.`;
      Object.assign(headers, parts.groups);
    }
    const { timestamp, nonce, signature = '' } = headers;
    const sentMs = readTime(timestamp);
    if (timestamp !== undefined && (sentMs === undefined || Math.abs(now() - sentMs) > 300_000)) {
      return 'The timestamp is not within the tolerance.';
    }
    const { method, pathQuery: path_query, bodyText: body } = exchange;
    const expected = signatureOf(settings, settings.secret, { timestamp, nonce, method, path_query, body });
    if (!sameText(signature, expected)) return 'The signature is wrong.';
    if (nonce !== undefined) {
      if (seen.has(nonce)) return 'The nonce was used before.';
      seen.add(nonce);
      // Forget the oldest, to bound memory.
      if (seen.size > 10_000) seen.delete(seen.values().next().value ?? '');
    }
    return undefined;
  };
}

type Placeholders = Readonly<Record<string, string | undefined>>;

export function signatureOf(
  { algorithm = 'sha256', encoding = 'hex', sign = defaultHmacSign }: HmacSettings,
  secret: string,
  values: Placeholders,
): string {
  return createHmac(algorithm, secret).update(filled(sign, values)).digest(encoding);
}

/** The template with the value of each placeholder; an unknown name stays. */
export function filled(template: string, values: Placeholders): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
  );
}

/** `HMAC k1:{nonce}:{signature}` as a regular expression with a named group per placeholder. */
function reader(template: string): RegExp {
  const parts = template.split(/\{(timestamp|nonce|signature)\}/);
  const pattern = parts.map((part, index) =>
    index % 2 === 1 ? `(?<${part}>.+?)` : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  return new RegExp(`^${pattern.join('')}$`);
}

/** Seconds, milliseconds or ISO 8601. */
function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{9,10}$/.test(text)) return Number(text) * 1000;
  if (/^\d{12,13}$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** A login call: POST /auth/login with user and password answers with a token for a header. */
export function loginServer(settings: LoginSettings, now: () => number): TokenServer {
  const { header = 'authorization', lifetimeSeconds = 300 } = settings;
  /** Token to the moment it expires. */
  const tokens = new Map<string, number>();
  let issued = 0;
  return {
    handle({ method, path, bodyText }) {
      if (path !== '/auth/login') return undefined;
      if (method !== 'POST') return problem(405, 'method_not_allowed', 'Use POST.', { allow: 'POST' });
      const { user, password } = bodyObject(bodyText) ?? {};
      const right = sameText(String(user), settings.user) && sameText(String(password), settings.password);
      if (!right) return problem(401, 'unauthorized', 'User or password is wrong.');
      issued += 1;
      const token = `login-${issued}`;
      tokens.set(token, now() + lifetimeSeconds * 1000);
      return json(200, { token, expires_in: lifetimeSeconds });
    },
    guard({ headers }) {
      const token = (headers[header.toLowerCase()] ?? '').replace(/^Bearer /i, '');
      if (token === '') return `The token in ${header} is missing.`;
      return (tokens.get(token) ?? 0) > now() ? undefined : 'The token is unknown or has expired.';
    },
    expireAll: () => tokens.clear(),
  };
}

export function guardFor(auth: SimulatorAuth, tokens: TokenServer | undefined, now: () => number): Guard {
  switch (auth.type) {
    case 'none':
      return () => undefined;
    case 'login':
    case 'oauth2':
      return tokens?.guard ?? (() => 'Nothing issues tokens.');
    case 'bearer':
      return ({ headers }) => expect(headers.authorization, `Bearer ${auth.token}`, 'bearer token');
    case 'api_key':
      return ({ headers, query }) => {
        const given = auth.in === 'header' ? headers[auth.name.toLowerCase()] : query.get(auth.name);
        return expect(given, auth.key, `API key in ${auth.in} ${auth.name}`);
      };
    case 'basic':
      return ({ headers }) => expect(headers.authorization, basicOf(auth), 'Basic login');
    case 'hmac':
      return hmacGuard(auth, now);
    case 'custom':
      return ({ headers, query, bodyText }) => {
        const body = bodyObject(bodyText) ?? Object.fromEntries(new URLSearchParams(bodyText));
        const each = (values = {}, what: string, given: (name: string) => unknown) =>
          Object.entries<string>(values).map(([name, value]) => expect(given(name), value, `${what} ${name}`));
        return [
          auth.basic && expect(headers.authorization, basicOf(auth.basic), 'Basic login'),
          ...each(auth.headers, 'header', (name) => headers[name.toLowerCase()]),
          ...each(auth.query, 'query parameter', (name) => query.get(name)),
          ...each(auth.body, 'body field', (name) => body[name]),
        ].find((denied) => denied !== undefined);
      };
  }
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function expect(given: unknown, right: string, what: string): string | undefined {
  if (typeof given !== 'string' || given === '') return `The ${what} is missing.`;
  return sameText(given, right) ? undefined : `The ${what} is wrong.`;
}
