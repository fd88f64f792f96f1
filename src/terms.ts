/**
 * The terms of the domain, each defined once. docs/glossary.md says more about each; a test keeps the two in step.
 *
 * connector    the API of one kind of PMS: request, paging, shape, mapping, spellings; data, shared by many brands
 * integration  one brand: a connector, its credentials, time zone, schedules and destinations
 * destination  where canonical records go
 * sync         pre_stay, stay or post_stay of one integration
 * run          one execution of a sync, or a backfill
 * window       a from/to pair of dates inside a run, one to seven days long
 * coverage     how much of a partner's list a run has seen: the distinct records received, compared with the partner's total
 * event        one webhook received
 * entry        what one run, event or replay brought for one record, and its outcome; the entries of the timeline
 * sighting     a polled page that showed stored reservations unchanged; it supersedes older events without writing the records
 * change       a new version of a reservation or guest that differs from the stored one
 * delivery     the handing of one change to one destination
 * lane         the flow from one integration to one destination; lanes are served in turn
 * claim        taking due work out of the database for this node, by row, with SKIP LOCKED
 * lease        the time for which a claim holds, by the database's clock; afterwards any node may claim the work again
 * fence        a number that rises with each claim; a write that carries an older number has no effect
 * dead letter  an event, record or delivery that failed permanently, kept with its payload and its reason
 */

declare const brand: unique symbol;
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

export type IntegrationName = Branded<string, 'IntegrationName'>;
export type DestinationName = Branded<string, 'DestinationName'>;
export type EndpointId = Branded<string, 'EndpointId'>;
export type RunId = Branded<string, 'RunId'>;

/** Milliseconds since the epoch, UTC. */
export type EpochMs = number;
/** A hotel-local calendar date, YYYY-MM-DD. */
export type LocalDate = string;

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** True for a JSON object: not null and not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name of a document: safe in a URL, a file name and a metric's label. Whatever takes one from outside checks it with this. */
export const documentNameForm = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;
export const isDocumentName = (text: string): boolean => documentNameForm.test(text);

export type SyncType = 'pre_stay' | 'stay' | 'post_stay';
export const syncTypes: readonly SyncType[] = ['pre_stay', 'stay', 'post_stay'];
/** In a sentence; documents, options and JSON have the name itself. */
export const syncWords = (sync: string): string => sync.replace('_', '-');

export type EntityType = 'reservation' | 'guest';
/** The kind of a change, as destinations receive it. */
export type ChangeEvent = 'created' | 'updated' | 'cancelled' | 'erased' | 'removed';

/** What became of the mail to an address, as a destination reports it. All three end the marketing to the people who have the address. */
export const reportKinds = ['complained', 'bounced', 'unsubscribed'] as const;
export type ReportKind = (typeof reportKinds)[number];

export interface Report {
  readonly email: string;
  readonly says: ReportKind;
  readonly at: EpochMs;
}

/** What a step of the path did to a record, for the timeline. It may hold guest data: it goes to the store, never to a log. */
export interface Note {
  readonly step: 'shape' | 'normalize' | 'transform' | 'reconcile';
  /** Canonical path, such as guests[0].phone. */
  readonly field: string;
  /** Stable and short, such as phone_to_e164. */
  readonly code: string;
  /** One sentence for a person. */
  readonly reason: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Where each canonical field came from: canonical path to raw path. */
export type Origins = { [canonicalPath: string]: string };
