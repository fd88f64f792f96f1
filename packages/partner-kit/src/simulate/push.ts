import { type SendResult, WebhookSender, type WebhookSenderOptions } from '../../../sender/src/index.ts';
import type { Hotel, HotelChange } from './hotel.ts';
import { eventData, guestEventData, type Look } from './represent.ts';

/** Where events are sent. */
export interface PushTarget {
  readonly url: string;
  readonly secret: string;
  readonly brand_id: string;
  /** Sends only the events of this hotel. Default: all hotels. */
  readonly propertyId?: string;
}

export interface PushOptions extends Look {
  /** A folder for pending events and dead letters. Default: in memory. */
  readonly folder: string | undefined;
  readonly sender: Partial<WebhookSenderOptions> | undefined;
}

/** One event: the hotel's change and the result of sending it. */
export interface Pushed {
  readonly change: HotelChange;
  readonly result: SendResult;
}

export type Pusher = Awaited<ReturnType<typeof startPusher>>;

/** Sends every change of the hotel to a webhook endpoint, as it happens. */
export async function startPusher(
  hotel: Hotel,
  target: PushTarget,
  options: PushOptions,
  pushed: (pushed: Pushed) => void,
) {
  const sender = await WebhookSender.open({
    ...options.sender,
    ...(options.folder === undefined ? {} : { folder: options.folder }),
    url: target.url,
    secret: target.secret,
    brandId: target.brand_id,
  });
  const endHotel = hotel.onChange((change) => {
    if (target.propertyId !== undefined && target.propertyId !== change.propertyId) return;
    const data = dataOf(hotel, change, options);
    const timestamp = new Date(change.at);
    void sender.send({ event: change.event, timestamp, data }).then(
      (result) => pushed({ change, result }),
      // The folder cannot be written: the simulator continues, and the page shows the failure.
      (error: Error) => pushed({ change, result: { kind: 'refused', eventId: '', why: error.message } }),
    );
  });
  const stop = async (): Promise<void> => {
    endHotel();
    await sender.close();
  };
  return { sender, target, stop };
}

function dataOf(hotel: Hotel, { event, guest, reservation }: HotelChange, look: Look) {
  if (event === 'guest.updated' && guest !== undefined) return guestEventData(guest, reservation, look.detail);
  return reservation === undefined ? {} : eventData(hotel, reservation, look);
}
