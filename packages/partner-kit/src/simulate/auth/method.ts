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
  /** Allowed redirect address of the authorization code. Default: any. */
  readonly redirectUris?: readonly string[];
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
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** What is signed: {timestamp}, {nonce}, {method}, {path_query}, {body}. */
  readonly sign?: string;
  /** The headers that carry {timestamp}, {nonce} and {signature}. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly toleranceSeconds?: number;
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

export const defaultHmacSign = '{timestamp}.{method}.{path_query}.{body}';
export const defaultHmacHeaders: Readonly<Record<string, string>> = {
  'X-Timestamp': '{timestamp}',
  'X-Signature': '{signature}',
};
