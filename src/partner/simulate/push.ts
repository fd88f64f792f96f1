import { type SendResult, WebhookSender, type WebhookSenderOptions } from '../sender/index.ts';
import type { Hotel, HotelChange } from './hotel.ts';
import { eventData, guestEventData, type Spelling } from './represent.ts';

/** Where events go. */
export interface PushTarget {
  readonly url: string;
  readonly secret: string;
  readonly brand_id: string;
  /** Only the events of this hotel of the group; all, where it is left out. */
  readonly propertyId?: string;
}

export interface PushOptions {
  readonly spelling: Spelling;
  /** Where the senders keep their letters; in memory where it is left out. */
  readonly folder: string | undefined;
  readonly sender: Partial<WebhookSenderOptions> | undefined;
}

/** One event, from the hotel's change to what became of it. */
export interface Pushed {
  readonly change: HotelChange;
  readonly result: SendResult;
}

/** Tells a webhook endpoint of every change of the hotel, as it happens. */
export class Pusher {
  readonly #sender: WebhookSender;
  readonly #stop: () => void;
  readonly target: PushTarget;

  private constructor(sender: WebhookSender, target: PushTarget, stop: () => void) {
    this.#sender = sender;
    this.target = target;
    this.#stop = stop;
  }

  static async start(
    hotel: Hotel,
    target: PushTarget,
    options: PushOptions,
    pushed: (pushed: Pushed) => void,
  ): Promise<Pusher> {
    const sender = await WebhookSender.open({
      ...options.sender,
      ...(options.folder === undefined ? {} : { folder: options.folder }),
      url: target.url,
      secret: target.secret,
      brandId: target.brand_id,
    });
    const stop = hotel.onChange((change) => {
      if (target.propertyId !== undefined && target.propertyId !== change.propertyId) return;
      const data = dataOf(hotel, change, options.spelling);
      const timestamp = new Date(change.at);
      void sender.send({ event: change.event, timestamp, data }).then(
        (result) => pushed({ change, result }),
        // A folder that cannot be written: the hotel goes on, and the page says so.
        (error: Error) => pushed({ change, result: { kind: 'refused', eventId: '', why: error.message } }),
      );
    });
    return new Pusher(sender, target, stop);
  }

  get sender(): WebhookSender {
    return this.#sender;
  }

  async stop(): Promise<void> {
    this.#stop();
    await this.#sender.close();
  }
}

function dataOf(hotel: Hotel, change: HotelChange, spelling: Spelling) {
  if (change.event === 'guest.updated' && change.guest !== undefined)
    return guestEventData(change.guest, change.reservation);
  return change.reservation === undefined ? {} : eventData(hotel, change.reservation, spelling);
}
