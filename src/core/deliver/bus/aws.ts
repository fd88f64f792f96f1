import type { z } from 'zod';
import { parseJson } from '../../../kit/json.ts';
import { isObject, type Json } from '../../../terms.ts';
import { type AwsIdentity, awsSigner } from '../../outbound/auth/sigv4.ts';
import type { DeliverLimits, DestinationType, Outcome } from '../destination.ts';
import { ask, httpCodes, type Said, seen, vendorCode } from './asking.ts';
import { type BusMessage, headers, headerText, shortKey } from './cloud-event.ts';
import { type Meaning, refusal } from './failure.ts';
import { busDestination, delivered } from './publisher.ts';

interface AwsSettings {
  readonly region: string;
  readonly credentials: AwsIdentity | 'machine';
  readonly endpoint?: string | undefined;
}

interface AwsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the answer says of one message: no code if it was taken. */
interface Entry {
  readonly code: string | undefined;
  readonly isSender: boolean;
}

interface AwsBus<Settings> {
  readonly type: string;
  readonly service: string;
  readonly label: string;
  readonly settings: z.ZodType<Settings>;
  readonly mostBytes: number;
  readonly sizeOf: (message: BusMessage) => number;
  readonly grants: (settings: Settings) => readonly string[];
  readonly send: (settings: Settings, messages: readonly BusMessage[]) => AwsRequest;
  /** In the order of the messages; undefined for one that the answer does not name. */
  readonly entries: (text: string, count: number) => readonly (Entry | undefined)[];
  readonly codeIn: (text: string) => string;
  /** What `prepare` asks about, how, and what the service does not promise. */
  readonly what: (settings: Settings) => string;
  readonly look: (settings: Settings) => AwsRequest;
  readonly promise: (settings: Settings) => string;
}

/** A service of AWS that takes up to ten messages in a signed request, and answers for each. */
export function awsBus<Settings extends AwsSettings>(bus: AwsBus<Settings>): DestinationType<Settings> {
  const { label, mostBytes } = bus;
  return busDestination<Settings>({
    ...bus,
    batch: { standard: 10, most: 1_000 },
    call: { messages: 10, bytes: mostBytes },
    mostBytes: () => mostBytes,
    codes: httpCodes,
    async connect(settings, services) {
      const { region, credentials, endpoint } = settings;
      const sign = awsSigner({ service: bus.service, region, credentials });
      const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
      const url = new URL('/', endpoint ?? `https://${bus.service}.${region}.${domain}`).href;
      const asked = async (made: AwsRequest, limits?: DeliverLimits): Promise<Said> => {
        const request = { method: 'POST', url, ...made };
        return ask(services, { ...request, headers: await sign(request, services.clock.now()) }, limits);
      };
      return {
        async publish(messages, limits) {
          const said = await asked(bus.send(settings, messages), limits);
          if ('failure' in said) return messages.map(() => said.failure);
          const { status } = said.answer;
          if (status !== 200) {
            const refused = awsRefusal(label, bus.codeIn(said.text), { status, whole: messages.length > 1 });
            return messages.map(() => refused);
          }
          const entries = bus.entries(said.text, messages.length);
          return messages.map((_, i) => entryOutcome(label, entries[i]));
        },
        async check() {
          const isMissing = (text: string) => awsMeaning(bus.codeIn(text), true) === 'mismatch';
          const message = () => bus.promise(settings);
          return [seen(label, bus.what(settings), await asked(bus.look(settings)), { isMissing, message })];
        },
        async close() {},
      };
    },
  });
}

/** A request in the protocols of JSON. */
export const awsJson = (version: '1.0' | '1.1', target: string, body: object): AwsRequest => ({
  headers: { 'content-type': `application/x-amz-json-${version}`, 'x-amz-target': target },
  body: JSON.stringify(body),
});

export const fifoPromise = (name: string): string =>
  name.endsWith('.fifo')
    ? 'FIFO: versions of a record stay in order, repetitions within 5 minutes are dropped.'
    : 'Not FIFO: it may reorder and repeat; compare sequence.';

/** What the codes of AWS mean. `isSender`: as it says itself of one entry. */
function awsRefusal(label: string, code: string, { isSender = true, status = 0, whole = false } = {}): Outcome {
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
  return 'refused';
}

function entryOutcome(label: string, entry: Entry | undefined): Outcome {
  if (entry === undefined) {
    const message = `The answer of ${label} does not name the message.`;
    return { kind: 'retry', code: 'deliver.answer_unreadable', message, mayHaveArrived: true };
  }
  if (entry.code === undefined) return delivered;
  return awsRefusal(label, vendorCode(entry.code), { isSender: entry.isSender });
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
export const fifoKeys = (name: string, { order, id }: BusMessage) =>
  name.endsWith('.fifo') && { MessageGroupId: shortKey(order, 128), MessageDeduplicationId: shortKey(id, 128) };

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

export const awsCode = (text: string): string =>
  vendorCode(String(parsedObject(text).__type ?? '').replace(/^.*#/, ''));
