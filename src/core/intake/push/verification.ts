import type { KeyObject } from 'node:crypto';
import type { EpochMs } from '../../../terms.ts';
import type { Verification as VerificationDocument } from '../../documents/connector-push.ts';

type Document<Type> = Extract<VerificationDocument, { readonly type: Type }>;

/** How a sender writes the time that it signs. */
export type TimestampFormat = Document<'hmac'>['timestamp_format'];

/** How a sender proves that it holds the secret, and what `verify` says about a request; as the connector's document says it. */
export type Verification = HmacVerification | TokenVerification | StandardWebhooksVerification | Document<'basic'>;

export interface HmacVerification
  extends Omit<Document<'hmac'>, 'timestamp_header' | 'timestamp_format' | 'tolerance'> {
  readonly timestampHeader?: string | undefined;
  /** By default the Unix time in seconds. */
  readonly timestampFormat?: TimestampFormat;
  readonly toleranceS: number;
}

export type TokenVerification = Document<'token'>;

export type StandardWebhooksVerification = Document<'standard_webhooks'> & { readonly toleranceS: number };

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
