import { exampleEvent } from '../../../src/core/canonical/example-event.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { createLink, linkRequest } from '../../../src/operator/operations/onboarding.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import type { Simulator } from '../../partner-kit/src/simulate/index.ts';
import { signedHeaders } from '../../sender/src/sign.ts';

const integration = 'harbour-house';
const brandId = 'HAR01';

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Scene {
  readonly says: string;
  readonly event?: string;
  /** Changes of the data before it is signed. */
  readonly data?: object;
  /** What goes wrong with the request. */
  readonly spoil?: (request: Request) => Request;
  /** Signs with this instead. */
  readonly secret?: string;
  readonly id?: string;
}

/** The usual mistakes of a first day, in their usual order, and then how it is right. */
const scenes: readonly Scene[] = [
  { says: 'signs with a wrong secret', secret: 'the-secret-of-another-hotel-entirely' },
  {
    says: 'sends the time in milliseconds',
    spoil: ({ headers, body }) => ({ headers: inMilliseconds(headers), body }),
  },
  {
    says: 'encodes the body again after signing it',
    spoil: ({ headers, body }) => ({ headers, body: JSON.stringify(JSON.parse(body), null, 2) }),
  },
  { says: 'leaves out the reservation id', data: { reservation_id: undefined } },
  { says: 'writes dates as its users see them', data: { check_in: '24/12/2031', check_out: '26/12/2031' } },
  { says: 'sends a new booking, correctly', id: 'evt-1' },
  { says: 'sends its change', event: 'reservation.updated', data: { check_out: '2031-12-27' }, id: 'evt-2' },
  { says: 'sends the same event again', event: 'reservation.updated', data: { check_out: '2031-12-27' }, id: 'evt-2' },
  { says: 'cancels the booking', event: 'reservation.cancelled', data: { status: 'cancelled' }, id: 'evt-3' },
];

const inMilliseconds = (headers: Request['headers']): Request['headers'] => ({
  ...headers,
  'X-Webhook-Timestamp': `${headers['X-Webhook-Timestamp']}000`,
});

/**
 * A brand that nobody has connected yet, the link for its partner, and a simulated developer of that partner who makes the usual mistakes
 * and then switches on a sender that does everything right.
 */
export async function onboardPartner(
  runtime: Runtime,
  partner: Pick<Simulator, 'baseUrl' | 'pushTo'>,
  key: string,
  say: (text: string) => void,
): Promise<{ stop(): void }> {
  const isNew = !runtime.active().integrations.has(integration);
  const brand = { brand_id: brandId, timezone: 'Europe/Lisbon', country: 'PT', deliver: ['lake'] };
  const request = linkRequest.parse({ partner: 'Harbour PMS', many_browsers: true, ...(isNew && { brand }) });
  const { url } = await createLink(runtime, integration, request, 'demo');
  say(`
  partner's page  ${url}
                  A simulated developer is about to make the usual mistakes: open the page and watch.
                  For the step with the API, enter
                    base URL            ${partner.baseUrl}
                    bearer token        ${key}
                    path                /api/reservations
                    first, last day     dateFrom, dateTo
                    pages               offset and limit: offset, limit
`);
  const { url: address, secret = '' } = await addressFor(runtime, integration, { rotate: true });
  let timer: NodeJS.Timeout | undefined;
  const play = async (index: number): Promise<void> => {
    const scene = scenes[index];
    if (scene === undefined) {
      await partner.pushTo({ url: address, secret, brand_id: brandId });
      return say('partner: switches its own sender on. Test the retries and the API, then say that you are ready.');
    }
    const { status } = await fetch(address, { method: 'POST', ...requestOf(scene, secret, index) });
    say(`partner: ${scene.says} (${status})`);
    timer = setTimeout(() => void play(index + 1).catch(failed), sceneMs);
  };
  const failed = (error: Error) => say(`partner: ${error.message}`);
  timer = setTimeout(() => void play(0).catch(failed), sceneMs);
  return { stop: () => clearTimeout(timer) };
}

/** As reception types it, so that the page shows what is cleaned. */
const untidyGuest = { first_name: 'RUI', last_name: 'DA COSTA', email: ' Rui@Letters.example ', phone: '912 345 678' };

/** Time to read each verdict. */
const sceneMs = 8_000;

function requestOf(
  { event = 'reservation.created', data, spoil, secret: other, id }: Scene,
  secret: string,
  index: number,
): Request {
  const now = Date.now();
  const sample = exampleEvent(brandId, now);
  const body = JSON.stringify({
    ...sample,
    event_id: id ?? `mistake-${index}-${now}`,
    event,
    data: { ...sample.data, guests: [untidyGuest], ...data },
  });
  const headers = signedHeaders(other ?? secret, Math.floor(now / 1000), body);
  return spoil ? spoil({ headers, body }) : { headers, body };
}
