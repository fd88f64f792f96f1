import { googleCredentials } from '../../../outbound/auth/assertion.ts';
import { ask, httpCodes, type Said, seen } from '../../bus/asking.ts';
import { type BusMessage, headers, shortKey } from '../../bus/cloud-event.ts';
import { type Meaning, refusal } from '../../bus/failure.ts';
import { busDestination, delivered, each } from '../../bus/publisher.ts';
import type { DeliverLimits } from '../../destination.ts';
import { type Settings, settingsSchema } from './settings.ts';

const label = 'Pub/Sub';
const mostBytes = 10_000_000;

/** All messages of a request have one ordering key, which is the record's: one request for each, several at once. */
export const destinationType = busDestination<Settings>({
  type: 'pubsub',
  label,
  settings: settingsSchema,
  batch: { standard: 25, most: 1_000 },
  call: { messages: 25, bytes: 4 * mostBytes },
  mostBytes: () => mostBytes,
  sizeOf: (message) => Buffer.byteLength(JSON.stringify(published(message))),
  grants: ({ topic }) => [`roles/pubsub.publisher on the topic ${topic}`, 'pubsub.topics.get, for prepare alone'],
  codes: httpCodes,
  async connect(settings, services) {
    const { project, topic, endpoint, credentials } = settings;
    const url = new URL(`/v1/projects/${project}/topics/${topic}`, endpoint ?? 'https://pubsub.googleapis.com').href;
    const login = googleCredentials(services, credentials, 'https://www.googleapis.com/auth/pubsub');

    async function send(method: string, to: string, body?: string, limits?: DeliverLimits): Promise<Said> {
      for (;;) {
        const plain = {
          method,
          url: to,
          headers: { 'content-type': 'application/json' },
          ...(body !== undefined && { body }),
        };
        const allowed = await login.authorize(plain);
        if (allowed.kind === 'failed') {
          const message = `${label}: ${allowed.message}.`;
          if (allowed.isBlocked) return { failure: { kind: 'dead', code: 'deliver.blocked_address', message } };
          const code = allowed.isAway ? 'deliver.unreachable' : 'deliver.auth_failed';
          return { failure: { kind: 'retry', code, message } };
        }
        const said = await ask(services, allowed.request, limits);
        if ('failure' in said || said.answer.status !== 401 || !(await login.refused(allowed.request))) return said;
      }
    }

    async function publishOne(message: BusMessage, limits: DeliverLimits) {
      const said = await send('POST', `${url}:publish`, JSON.stringify({ messages: [published(message)] }), limits);
      if ('failure' in said) return said.failure;
      const { status } = said.answer;
      if (status === 200 && said.text.includes('messageIds')) return delivered;
      return refusal(label, meaningOf(status), String(status), { status });
    }

    return {
      publish: (messages, limits) => each(messages, (message) => publishOne(message, limits)),
      async check() {
        const message = () =>
          'Order needs subscriptions with message ordering and one region (endpoint). It drops no repetition: compare sequence.';
        return [
          seen(label, `topic ${topic}`, await send('GET', url), { isMissing: (_, status) => status === 404, message }),
        ];
      },
      async close() {},
    };
  },
});

const published = (message: BusMessage) => ({
  data: Buffer.from(message.body).toString('base64'),
  attributes: headers(message, 'ce-', 'content-type'),
  orderingKey: shortKey(message.order, 1_024),
});

function meaningOf(status: number): Meaning {
  if (status === 401 || status === 403) return 'auth';
  if (status === 404) return 'mismatch';
  if (status === 429) return 'slow';
  return status === 409 || status >= 499 || status < 300 ? 'again' : 'refused';
}
