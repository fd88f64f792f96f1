import { createHmac } from 'node:crypto';
import type { EpochMs } from '../../../../terms.ts';
import { ask, httpCodes } from '../../bus/asking.ts';
import { type BusMessage, headers, shortKey } from '../../bus/cloud-event.ts';
import { type Meaning, refusal } from '../../bus/failure.ts';
import { busDestination, delivered } from '../../bus/publisher.ts';
import { mostBytes, type Settings, settingsSchema } from './settings.ts';

const label = 'Service Bus';
const tokenSeconds = 600;

/** A batch is taken or refused as a whole, so that the engine halves a refused one. */
export const destinationType = busDestination<Settings>({
  type: 'servicebus',
  label,
  settings: settingsSchema,
  batch: { standard: 100, most: 1_000 },
  // The limit of a request is the one of a message.
  call: { messages: 100, bytes: 256 * 1_024 },
  mostBytes,
  sizeOf: (message) => Buffer.byteLength(JSON.stringify(brokered(message))) + 2,
  grants: ({ entity }) => [`Send on ${entity}: a shared access policy, or the role Azure Service Bus Data Sender`],
  codes: httpCodes,
  async connect(settings, services) {
    const { namespace, entity, endpoint, key_name, key } = settings;
    const path = `/${entity}`;
    const resource = `https://${namespace}.servicebus.windows.net${path}`;
    const url = new URL(`${path}/messages`, endpoint ?? resource).href;
    return {
      async publish(messages, limits) {
        const request = {
          url,
          headers: {
            authorization: accessToken(resource, key_name, key, services.clock.now()),
            'content-type': 'application/vnd.microsoft.servicebus.json',
          },
          body: JSON.stringify(messages.map(brokered)),
        };
        const said = await ask(services, request, limits);
        if ('failure' in said) return messages.map(() => said.failure);
        const { status } = said.answer;
        if (status === 201) return messages.map(() => delivered);
        const refused = refusal(label, meaningOf(status, said.text), String(status), {
          status,
          whole: messages.length > 1,
        });
        return messages.map(() => refused);
      },
      async check() {
        const message =
          'A key that only sends cannot read it. Order needs sessions (RequiresSession), dropping repetitions RequiresDuplicateDetection.';
        return [{ what: `queue or topic ${entity}`, result: 'unknown', message }];
      },
      async close() {},
    };
  },
});

const brokered = (message: BusMessage) => ({
  Body: message.body,
  BrokerProperties: {
    MessageId: shortKey(message.id, 128),
    SessionId: shortKey(message.order, 128),
    Label: message.event,
  },
  UserProperties: headers(message, 'cloudEvents:'),
});

/** A shared access signature. */
export function accessToken(resource: string, keyName: string, key: string, now: EpochMs): string {
  const target = encodeURIComponent(resource.toLowerCase());
  const expires = Math.floor(now / 1_000) + tokenSeconds;
  const signature = createHmac('sha256', key).update(`${target}\n${expires}`).digest('base64');
  return `SharedAccessSignature sr=${target}&sig=${encodeURIComponent(signature)}&se=${expires}&skn=${encodeURIComponent(keyName)}`;
}

/** 403 is also the answer to a full entity and to a message that is too large. */
function meaningOf(status: number, text: string): Meaning {
  if (status === 401) return 'auth';
  if (status === 403) return /quota|full/i.test(text) ? 'slow' : /size|large/i.test(text) ? 'tooLarge' : 'auth';
  if (status === 413) return 'tooLarge';
  if (status === 404 || status === 410) return 'mismatch';
  if (status === 429 || status === 503) return 'slow';
  return status >= 500 || status < 300 ? 'again' : 'refused';
}
