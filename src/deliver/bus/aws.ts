import { parseJson } from '../../kit/json.ts';
import { type AwsIdentity, awsSigner } from '../../outbound/auth/sigv4.ts';
import { isObject, type Json } from '../../terms.ts';
import type { DeliverLimits, DestinationServices, Outcome } from '../destination.ts';
import { ask, type Meaning, refusal, type Said, vendorCode } from './asking.ts';
import { type BusMessage, headers, headerText, shortKey } from './cloud-event.ts';
import { delivered } from './publisher.ts';

interface AwsSettings {
  readonly region: string;
  readonly credentials: AwsIdentity | 'machine';
  readonly endpoint?: string | undefined;
}

/** Signed requests to one service of AWS. */
export function awsAsking(
  service: string,
  { region, credentials, endpoint }: AwsSettings,
  services: Pick<DestinationServices, 'http' | 'clock'>,
): (headers: Readonly<Record<string, string>>, body: string, limits?: DeliverLimits) => Promise<Said> {
  const sign = awsSigner({ service, region, credentials });
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL('/', endpoint ?? `https://${service}.${region}.${domain}`).href;
  return async (headers, body, limits) => {
    const request = { method: 'POST', url, headers, body };
    return ask(services, { ...request, headers: await sign(request, services.clock.now()) }, limits);
  };
}

/** What the codes of AWS mean. `isSender`: as it says itself of one entry. */
export function awsRefusal(label: string, code: string, { isSender = true, status = 0, whole = false } = {}): Outcome {
  return refusal(label, awsMeaning(code, isSender && status < 500), code, { whole, ...(status > 0 && { status }) });
}

function awsMeaning(code: string, isSender: boolean): Meaning {
  if (/NotExist|NonExistent|NotFound/.test(code)) return 'mismatch';
  if (/Throttl|SlowDown|TooManyRequests|RequestLimitExceeded/.test(code)) return 'slow';
  if (
    /AccessDenied|Authorization|UnrecognizedClient|InvalidClientToken|SignatureDoesNotMatch|Expired|InvalidSecurity|IncompleteSignature|MissingAuthentication|OptIn/.test(
      code,
    )
  )
    return 'auth';
  if (!isSender || /Internal|Unavailable/.test(code)) return 'again';
  return 'dead';
}

/** The outcome of one entry of a batch; undefined if the answer does not name it. */
export function entryOutcome(
  label: string,
  entry: { readonly code: Json | undefined; readonly isSender: boolean } | undefined,
): Outcome {
  if (entry === undefined) {
    const message = `The answer of ${label} does not name the message.`;
    return { kind: 'retry', code: 'deliver.answer_unreadable', message, mayHaveArrived: true };
  }
  if (entry.code === undefined) return delivered;
  return awsRefusal(label, vendorCode(String(entry.code)), { isSender: entry.isSender });
}

/** At most ten, so that the epoch is only in the body. */
export function attributesOf(message: BusMessage): Record<string, string> {
  const { 'ce-epoch': _, ...attributes } = headers(message, 'ce-', undefined, headerText);
  return attributes;
}

export const sizeWithAttributes = (message: BusMessage): number =>
  Object.entries(attributesOf(message)).reduce(
    (sum, [name, value]) => sum + name.length + value.length + 'String'.length,
    Buffer.byteLength(message.body),
  );

/** Order and repetitions of a FIFO queue or topic. */
export const fifoKeys = ({ order, id }: BusMessage) => ({
  MessageGroupId: shortKey(order, 128),
  MessageDeduplicationId: shortKey(id, 128),
});

/** The two characters that JSON may hold as they are and XML may not. */
export const xmlText = (json: string): string =>
  json.replace(/[\ufffe\uffff]/g, (one) => (one === '\ufffe' ? '\\ufffe' : '\\uffff'));

export function parsedObject(text: string): { readonly [name: string]: Json } {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export const awsCode = ({ __type }: { readonly [name: string]: Json }): string =>
  vendorCode(String(__type ?? '').replace(/^.*#/, ''));
