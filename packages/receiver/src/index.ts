/** The public interface for those who receive changes from Innbound. This folder depends on Node built-ins only. */
export { type FeedOptions, type FeedPage, readFeed } from './feed.ts';
export { type GuestMessage, type Message, type ReservationMessage, readMessages } from './message.ts';
export type { Charge, Guest, Reservation, Room, Status } from './record.ts';
export { type Headers, type Request, type Verified, verify } from './verify.ts';
export { isNewer, recordKey, SeenKeys, type Version } from './versions.ts';
