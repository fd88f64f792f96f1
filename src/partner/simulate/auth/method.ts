/** The ways in which this API can be opened. */
export type SimulatorAuth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly in: 'header' | 'query'; readonly name: string; readonly key: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | OAuth2Settings
  | HmacSettings
  | CustomSettings;

export interface OAuth2Settings {
  readonly type: 'oauth2';
  readonly clientId: string;
  readonly clientSecret: string;
  /** How long an access token is good for; 300 s. */
  readonly lifetimeSeconds?: number;
  /** Where the authorization code may be sent; any place, where it is left out. */
  readonly redirectUris?: readonly string[];
  /** Consent without a click, for tests. */
  readonly autoApprove?: boolean;
}

export interface HmacSettings {
  readonly type: 'hmac';
  readonly secret: string;
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** What is signed: {timestamp}, {nonce}, {method}, {path_query}, {body}. */
  readonly sign?: string;
  /** Which headers carry {timestamp}, {nonce} and {signature}. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly toleranceSeconds?: number;
}

/** Values that have to be there, by place and name. */
interface CustomSettings {
  readonly type: 'custom';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, string>>;
}

export const defaultHmacSign = '{timestamp}.{method}.{path_query}.{body}';
export const defaultHmacHeaders: Readonly<Record<string, string>> = {
  'X-Timestamp': '{timestamp}',
  'X-Signature': '{signature}',
};
