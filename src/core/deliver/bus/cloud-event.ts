import { hash } from 'node:crypto';
import { type Delivery, encodeMessage } from '../message.ts';

/** One delivery as a CloudEvent (1.0): the default body as its data. */
export interface BusMessage {
  /** The idempotency key. */
  readonly id: string;
  /** One per record; what keeps its versions in order. */
  readonly order: string;
  readonly integration: string;
  /** `reservation` or `guest`. */
  readonly kind: string;
  readonly record: string;
  readonly event: string;
  readonly changedAt: number;
  /** Without `datacontenttype`, for which most bindings have a place of their own. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: string;
}

export const contentType = 'application/json';

export function busMessage({ message, changedAt }: Delivery): BusMessage {
  const { integration, type: kind, event, version, epoch, data, brand_id, idempotency_key: id } = message;
  const order = `${integration}/${kind}/${data.id}`;
  return {
    id,
    order,
    integration,
    kind,
    record: data.id,
    event: `${kind}.${event}`,
    changedAt,
    attributes: {
      specversion: '1.0',
      id,
      source: `/innbound/${integration}`,
      type: `com.innbound.${kind}.${event}.v1`,
      subject: data.id,
      time: new Date(changedAt).toISOString(),
      sequence: String(version),
      partitionkey: order,
      brandid: brand_id,
      ...(epoch !== undefined && { epoch: String(epoch) }),
    },
    body: encodeMessage(message),
  };
}

/** Structured mode, for a bus without headers. */
export function structured({ attributes, body }: BusMessage): string {
  const context = JSON.stringify({ ...attributes, datacontenttype: contentType });
  return `${context.slice(0, -1)},"data":${body}}`;
}

/** The attributes under the names that a binding gives them. */
export function headers(
  { attributes }: BusMessage,
  prefix: string,
  ownType?: string,
  encode = (value: string) => value,
): Record<string, string> {
  const named = Object.entries(attributes).map(([name, value]) => [prefix + name, encode(value)] as const);
  return { ...Object.fromEntries(named), [ownType ?? `${prefix}datacontenttype`]: contentType };
}

/** As in headers of HTTP: what is not printable ASCII, a space, a quotation mark or a percent sign is percent-encoded. */
export function headerText(value: string): string {
  return value.toWellFormed().replace(/[^\x21\x23\x24\x26-\x7e]+/gu, encodeURIComponent);
}

/** A key of at most so many printable ASCII characters, distinct for distinct texts. */
export function shortKey(text: string, most: number): string {
  const plain = headerText(text);
  if (plain.length <= most) return plain;
  const digest = hash('sha256', text).slice(0, 32);
  return `${plain.slice(0, most - digest.length - 1)}~${digest}`;
}
