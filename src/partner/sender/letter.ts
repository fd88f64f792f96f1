/** An event on its way: kept as the text that is sent, so that every try sends the same bytes. */
export interface Letter {
  readonly eventId: string;
  readonly event: string;
  /** Letters with the same key go out one after the other. */
  readonly orderKey: string;
  readonly body: string;
  /** When it was handed over, ISO 8601 UTC. */
  readonly acceptedAt: string;
}

export interface Failure {
  /** Absent when no answer came at all. */
  readonly status?: number;
  /** What went wrong, for a person: never the body of the event. */
  readonly message: string;
}

/** An event that was given up: every try failed. It stays until it is replayed with success, or dropped. */
export interface DeadLetter extends Letter {
  /** Names it in replay and drop. */
  readonly id: string;
  readonly attempts: number;
  readonly failedAt: string;
  readonly failure: Failure;
}

/** What is handed over: an event to be put into an envelope. */
export interface OutgoingEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** A new unique one where it is left out. Give your own only if it names this very change. */
  readonly event_id?: string;
  /** When the change happened; now, where it is left out. */
  readonly timestamp?: string | Date;
  /** The sender's brandId where it is left out. */
  readonly brand_id?: string;
}

/** Events about one reservation share a key; so do those about one guest's profile; any other stands alone. */
export function orderKeyOf(event: OutgoingEvent, eventId: string): string {
  const { reservation_id: reservation, guest_id: guest } = event.data;
  if (typeof reservation === 'string' && reservation !== '') return `reservation ${reservation}`;
  if (typeof guest === 'string' && guest !== '') return `guest ${guest}`;
  return `event ${eventId}`;
}
