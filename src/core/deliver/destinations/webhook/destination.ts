import { createHmac } from 'node:crypto';
import { type DeliverLimits, type DestinationType, lostLease, type Outcome } from '../../destination.ts';
import { outcomeOf } from '../../http-answer.ts';
import { type Delivery, encodeMessage } from '../../message.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';

/**
 * One signed request per change, as Standard Webhooks describes it: the receiver verifies it with any of its libraries and
 * recognizes repetitions by webhook-id, which is the idempotency key. Each try is signed again, because the timestamp is the send
 * time.
 */
export const destinationType: DestinationType<Settings> = {
  type: 'webhook',
  settings: settingsSchema,
  batch: () => ({ standard: 1, most: 1 }),
  timeoutMs,
  findsErasedGuests: false,
  open(settings, { http, clock }) {
    const keys = [settings.secret, settings.old_secret]
      .filter((secret) => secret !== undefined)
      .map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'));

    async function sendOne({ message }: Delivery, limits: DeliverLimits): Promise<Outcome> {
      const body = encodeMessage(message);
      const id = message.idempotency_key;
      const timestamp = Math.floor(clock.now() / 1_000);
      const signatures = keys.map(
        (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
      );
      const lost = lostLease(limits, limits.deadlineMs);
      if (lost !== undefined) return lost;
      const answered = await http.request({
        method: 'POST',
        url: settings.url,
        headers: {
          ...settings.headers,
          'content-type': 'application/json',
          'idempotency-key': id,
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-event': `${message.type}.${message.event}`,
          'webhook-signature': signatures.join(' '),
          ...(limits.traceparent !== undefined && { traceparent: limits.traceparent }),
        },
        body,
        deadlineMs: limits.deadlineMs,
        idleMs: limits.deadlineMs,
        expects: 'short',
        signal: limits.signal,
      });
      return outcomeOf(answered, clock.now(), body);
    }

    return {
      deliver: (batch, limits) => Promise.all(batch.map((delivery) => sendOne(delivery, limits))),
      async close() {},
    };
  },
};
