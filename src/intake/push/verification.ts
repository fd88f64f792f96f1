import type { KeyObject } from 'node:crypto';
import type { EpochMs } from '../../terms.ts';

/** What a sender signs: one of the two usual texts, or a template with {timestamp}, {method}, {url}, {header.NAME} and {body}. */
export type SignedText = 'timestamp.body' | 'body' | (string & {});

/** How a sender writes the time that it signs. */
export type TimestampFormat = 'seconds' | 'milliseconds' | 'iso';

/** How a sender proves that it holds the secret, and what `verify` says about a request. */
export type Verification = HmacVerification | TokenVerification | StandardWebhooksVerification | BasicVerification;

export interface HmacVerification {
  readonly type: 'hmac';
  readonly algorithm: 'sha256' | 'sha512' | 'sha1' | 'md5';
  readonly sign: SignedText;
  readonly header: string;
  readonly prefix: string;
  readonly encoding: 'hex' | 'base64';
  readonly timestampHeader?: string | undefined;
  /** The header consists of named parts, such as `t=…,v1=…`: the names of those with the time and with a signature. */
  readonly parts?: { readonly timestamp?: string | undefined; readonly signature: string } | undefined;
  /** Of the time; by default the Unix time in seconds. */
  readonly timestampFormat?: TimestampFormat;
  readonly toleranceS: number;
}

export interface TokenVerification {
  readonly type: 'token';
  /** Exactly one of header and query. */
  readonly header?: string | undefined;
  readonly prefix: string;
  readonly query?: string | undefined;
}

/** HTTP Basic: the secret is the password. */
type BasicVerification = { readonly type: 'basic'; readonly username: string };

export interface StandardWebhooksVerification {
  readonly type: 'standard_webhooks';
  /** The prefix of its header names: `webhook` or `svix`. */
  readonly headers: string;
  readonly toleranceS: number;
}

export const defaultVerification: HmacVerification = {
  type: 'hmac',
  algorithm: 'sha512',
  sign: 'timestamp.body',
  header: 'x-webhook-signature',
  prefix: 'sha512=',
  encoding: 'hex',
  timestampHeader: 'x-webhook-timestamp',
  toleranceS: 300,
};

/** Characters of a secret: anyone who guesses it can forge events. */
export const leastSecret = 24;

/** One of the secrets that are valid now. `bytes` is its text as issued, in UTF-8. */
export interface Secret {
  readonly secretNo: number;
  readonly bytes: Buffer;
  readonly key: KeyObject;
  /** The key of Standard Webhooks: what follows `whsec_`, decoded. */
  readonly standardKey: KeyObject;
  readonly expiresAt?: EpochMs;
}

export type Refusal =
  | 'timestamp_missing'
  | 'timestamp_malformed'
  | 'timestamp_old'
  | 'timestamp_ahead'
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_wrong'
  | 'id_missing'
  | 'no_valid_secret';

export type SignatureCheck =
  | { readonly kind: 'verified'; readonly secretNo: number }
  /** The reason is for the operator and the sandbox report; a live sender gets the same answer for every reason. */
  | { readonly kind: 'refused'; readonly reason: Refusal; readonly skewS?: number };

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface Request {
  readonly headers: Headers;
  /** The raw query string, without the question mark. */
  readonly query: string;
  readonly rawBody: Buffer;
  /** The whole address, as it was issued to the sender. */
  readonly url?: string;
}
