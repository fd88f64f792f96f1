import type { Answer, Input, OperationId } from './client.ts';

export type { Json } from './operations.ts';

/** Names that the pages use for parts of the API's answers. */
type Item<Id extends OperationId> = Answer<Id> extends { items: (infer One)[] } ? One : never;

export type Role = Answer<'session.get'>['role'];
export type Overview = Answer<'overview.get'>;
export type Point = Overview['series'][number];
export type Integration = Item<'integrations.list'>;
export type Group = Item<'groups.list'>;
export type IntegrationDetail = Answer<'integrations.get'>;
export type HotelReport = NonNullable<Answer<'integrations.hotel'>['report']>;
export type SyncType = NonNullable<Integration['pull']>['syncs'][number]['sync'];
export type Run = Item<'runs.list'>;
export type RunDetail = Answer<'runs.get'>;
export type Found = Item<'reservations.search'>;
export type Timeline = Answer<'reservations.timeline'>;
export type Entry = Timeline['timeline'][number];
export type DeliveryNow = Timeline['deliveries'][number];
type Received = Extract<Entry, { what: 'received' }>;
export type Note = NonNullable<Received['notes']>[number];
export type Difference = NonNullable<Received['diff']>[number];
export type DeadLetter = Item<'dead_letters.list'>;
export type WholeDeadLetter = Answer<'dead_letters.get'>;
export type GuestPair = Item<'guests.pairs'>;
export type GuestCandidate = Item<'dead_letters.candidates'>;
export type Preview = Answer<'dead_letters.preview'>;
export type Destination = Item<'destinations.list'>;
export type Comparison = Item<'comparisons.list'>;
export type Delivery = Item<'deliveries.list'>;
export type Alert = Item<'alerts.list'>;
export type OnboardingRow = Item<'onboarding.list'>;
export type OnboardingDetail = Answer<'onboarding.get'>;
export type Issued = Answer<'endpoint.issue'>;
export type EventRow = Item<'events.list'>;
export type Event = Answer<'events.get'>;
export type SandboxRow = Item<'sandbox.list'>;
export type SandboxReport = Answer<'sandbox.get'>;
export type SecretRow = Item<'secrets.list'>;
export type DocumentText = Answer<'documents.get'>;
export type DocumentKind = DocumentText['kind'];
export type Previewed = Answer<'map.preview'>;
export type Mistake = Pick<
  Answer<'documents.validate'>['mistakes'][number],
  'line' | 'column' | 'path' | 'message' | 'suggestion'
>;
export type Receipt = Answer<'privacy.erase'>;
export type TokenRow = Item<'tokens.list'>;
export type Job = Answer<'jobs.get'>;
export type JobRequest = Input<'jobs.start'>;
export type JobPreview = Answer<'jobs.preview'>;
export type QualityDay = Item<'integrations.quality'>;
export type Mark = Item<'overview.marks'>;
export type UnknownSpelling = Item<'spellings.unknown'>;
