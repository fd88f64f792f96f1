import { formOf } from '../redact.ts';
import type { Rule } from '../rule.ts';
import { envelopeOf } from './delivery.ts';
import { each, type SenderEvidence } from './evidence.ts';
import { signatureFault } from './signature.ts';

/** Rules about method, headers and signature. */
export const requestRules: readonly Rule<SenderEvidence>[] = [
  {
    id: 'request.post',
    level: 'must',
    title: 'Events are sent by POST to the brand’s URL',
    change: 'Send every event by POST to the issued URL.',
    judge: (evidence) =>
      each(evidence, ({ method, path }) =>
        method === 'POST' && path === evidence.path
          ? undefined
          : `${method} ${path === evidence.path ? 'to the URL' : 'to another path'}`,
      ),
  },
  {
    id: 'request.json_type',
    level: 'must',
    title: 'Content-Type is application/json',
    change: 'Send Content-Type: application/json.',
    judge: (evidence) =>
      each(evidence, ({ contentType }) =>
        /^application\/json\s*(;|$)/i.test(contentType) ? undefined : `Content-Type is ${contentType || 'missing'}`,
      ),
  },
  {
    id: 'request.body',
    level: 'must',
    title: 'The body is one event, a JSON object in UTF-8',
    change: 'Send one event per request, as a JSON object in UTF-8; do not batch events in arrays.',
    judge: (evidence) =>
      each(evidence, (delivery) => {
        if (!delivery.utf8) return 'Bytes that are not UTF-8';
        if (delivery.json === undefined) return 'Text that is not JSON';
        return envelopeOf(delivery) === undefined
          ? Array.isArray(delivery.json)
            ? 'An array of events'
            : 'No object'
          : undefined;
      }),
  },
  {
    id: 'signature.valid',
    level: 'must',
    title: 'X-Webhook-Signature matches timestamp, body and secret',
    change:
      'Sign <timestamp>.<raw body> with HMAC-SHA512 and the issued secret, and send sha512= followed by lower-case hex. docs/partners has it in several languages.',
    judge: (evidence) => each(evidence, (delivery) => signatureFault(delivery, evidence.secret)),
  },
  {
    id: 'timestamp.seconds',
    level: 'must',
    title: 'X-Webhook-Timestamp is Unix time in seconds',
    change: 'Send whole seconds since 1970, digits only.',
    judge: (evidence) =>
      each(evidence, ({ timestamp }) => {
        if (timestamp === undefined) return 'It is missing';
        if (/^\d{13}$/.test(timestamp)) return 'It is in milliseconds';
        return /^\d{9,10}$/.test(timestamp) ? undefined : `It is written as ${formOf(timestamp.slice(0, 30))}`;
      }),
  },
  {
    id: 'timestamp.now',
    level: 'must',
    title: 'X-Webhook-Timestamp is the time of sending, within 5 minutes',
    change: 'Use the time of sending, from a synchronized clock, and update it for each retry.',
    judge: (evidence) =>
      each(
        { ...evidence, deliveries: evidence.deliveries.filter(({ timestamp }) => /^\d{9,10}$/.test(timestamp ?? '')) },
        ({ timestamp, atMs }) => {
          const aheadSeconds = Number(timestamp) - atMs / 1000;
          return Math.abs(aheadSeconds) <= 300
            ? undefined
            : `${Math.round(Math.abs(aheadSeconds))} seconds ${aheadSeconds > 0 ? 'ahead' : 'old'}`;
        },
      ),
  },
];
