/** A pending event, stored as the text to send, so that every attempt sends the same bytes. */
export interface Letter {
  readonly eventId: string;
  readonly event: string;
  /** Events with the same key are sent one after the other. */
  readonly orderKey: string;
  readonly body: string;
  /** When `send` was called, ISO 8601 UTC. */
  readonly acceptedAt: string;
}

export interface Failure {
  /** Absent if there was no answer. */
  readonly status?: number;
  /** What went wrong, for people; never contains the event's body. */
  readonly message: string;
}

/** An event whose attempts all failed. It stays until a replay succeeds or it is dropped. */
export interface DeadLetter extends Letter {
  /** Identifies it in replay and drop. */
  readonly id: string;
  readonly attempts: number;
  readonly failedAt: string;
  readonly failure: Failure;
}

/** The argument of `send`: an event to put into an envelope. */
export interface OutgoingEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Default: a new unique id. Pass your own only if it identifies exactly this change. */
  readonly event_id?: string;
  /** When the change happened. Default: now. */
  readonly timestamp?: string | Date;
  /** Default: the sender's brandId. */
  readonly brand_id?: string;
}

/** Events about one reservation share a key, as do those about one guest's profile; any other event has its own. */
export function orderKeyOf(event: OutgoingEvent, eventId: string): string {
  const { reservation_id: reservation, guest_id: guest } = event.data;
  if (typeof reservation === 'string' && reservation !== '') return `reservation ${reservation}`;
  if (typeof guest === 'string' && guest !== '') return `guest ${guest}`;
  return `event ${eventId}`;
}
