import type { Answers, Json } from './answers.ts';

export type { Json } from './answers.ts';

/**
 * What the API answers, under the names that the pages use. The forms come from the API's own description; only what it leaves
 * open, records and payloads, is said here, as far as pages read into them.
 */
type Answer<Id extends keyof Answers> = Answers[Id];
type Item<Id extends keyof Answers> = Answers[Id] extends { items: (infer One)[] } ? One : never;
/** The same with some fields known better. */
type Knowing<Whole, Better> = Omit<Whole, keyof Better> & Better;

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
export interface Guest {
  first_name?: string;
  last_name?: string;
  email?: string;
  phone?: string;
  guest_id?: string;
}
export interface Reservation {
  id: string;
  confirmation_number?: string;
  check_in?: string;
  check_out?: string;
  status?: string;
  channel?: string;
  total_amount?: number | string;
  currency?: string;
  guests?: Guest[];
}

export type Session = Answer<'session.get'>;
export type Role = Session['role'];
export type IntegrationState = Integration['state'];
export type Overview = Knowing<Answer<'overview.get'>, { states: Record<IntegrationState, number> }>;
export type Point = Overview['series'][number];
export type Integration = Item<'integrations.list'>;
export type IntegrationDetail = Answer<'integrations.get'>;
export type SyncType = NonNullable<Integration['pull']>['syncs'][number]['sync'];
export type Run = Item<'runs.list'>;
export type RunDetail = Answer<'runs.get'>;
export type Found = Knowing<Item<'reservations.search'>, { data: Reservation & Guest }>;
export type Timeline = Knowing<Answer<'reservations.timeline'>, { data: (Reservation & Guest) | null }>;
export type Entry = Timeline['timeline'][number];
export type DeliveryNow = Timeline['deliveries'][number];
type Received = Extract<Entry, { what: 'received' }>;
export type Note = NonNullable<Received['notes']>[number];
export type Difference = NonNullable<Received['diff']>[number];
export type DeadLetter = Item<'dead_letters.list'>;
export type WholeDeadLetter = Answer<'dead_letters.get'>;
export type Preview = Answer<'dead_letters.preview'>;
export type ReplayResult = Answer<'dead_letters.replay'>;
export type Destination = Item<'destinations.list'>;
export type Delivery = Item<'deliveries.list'>;
export type Alert = Item<'alerts.list'>;
export type Endpoint = Answer<'endpoint.get'>;
export type Issued = Answer<'endpoint.issue'>;
export type Rejections = Answer<'rejections.list'>;
export type EventRow = Item<'events.list'>;
export type Event = Answer<'events.get'>;
export type SandboxRow = Item<'sandbox.list'>;
export type SandboxReport = Answer<'sandbox.get'>;
export type SecretRow = Item<'secrets.list'>;
export type DocumentRow = Item<'documents.list'>;
export type DocumentText = Answer<'documents.get'>;
export type Previewed = Answer<'map.preview'>;
export type Mistake = Pick<
  Answer<'documents.validate'>['mistakes'][number],
  'line' | 'column' | 'path' | 'message' | 'suggestion'
>;
export type Receipt = Answer<'privacy.erase'>;
export type TokenRow = Item<'tokens.list'>;
export type AuditRow = Knowing<Item<'audit.list'>, { target: Record<string, Json> }>;
