import { z } from 'zod';
import { randomId } from '../../../kit/ids.ts';
import { parseJson, type StrictLimits } from '../../../kit/json.ts';
import type { EpochMs, Json } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { encodeRecord } from '../../canonical/reservation.ts';
import { entityType, noteSchema } from '../../canonical/schema.ts';
import { guestKeys } from '../../persons/identifiers.ts';
import { type ReadGuest, readGuests, ruleProfile } from '../../pipeline/guest.ts';
import { decide } from '../../pipeline.ts';
import type { Statement } from '../../reconcile/forms.ts';
import type { Refused } from './answer.ts';
import * as answer from './answer.ts';
import { diagnose, explain, wrongParts } from './diagnose.ts';
import { type EventsRead, type ReadEvent, statedId } from './foreign-envelope.ts';
import { unidentified } from './guest-event.ts';
import type { Endpoint } from './ports.ts';
import { type Arrived, parsedBody, readEvents } from './receive.ts';
import { arrivalOf, readEvent, thinIdOf } from './reservation-event.ts';
import type { PushSettings } from './settings.ts';
import { secondsIn, statedSignature, verify } from './verify.ts';

const anyJson = z.unknown() as z.ZodType<Json>;

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('record'),
    type: entityType,
    record: anyJson,
    notes: z.array(noteSchema),
    effect: z.string().optional().describe('The other effects of live processing.'),
  }),
  z.object({ kind: z.literal('dead_letter'), code: z.string(), message: z.string(), detail: anyJson }),
  z.object({ kind: z.literal('dropped'), reason: z.string() }),
  z.object({
    kind: z.literal('fetched_first'),
    reservation_id: z.string().optional(),
    guest_id: z.string().optional(),
  }),
  /** Accepted and not stored: the connector maps none of its events. */
  z.object({ kind: z.literal('ignored'), reason: z.string() }),
  z.object({ kind: z.literal('none'), reason: z.string() }),
]);
type SandboxOutcome = z.infer<typeof outcomeSchema>;

/** The sandbox's report on one request. */
export const sandboxReportSchema = z.object({
  report_id: z.string(),
  at: z.string(),
  event_id: z.string(),
  event: z.string().optional(),
  /** The answer of the live endpoint to this request. */
  would_answer: z.object({ status: z.int(), code: z.string().optional(), detail: z.string() }),
  signature: z.object({
    right: z.boolean(),
    reason: z.string().exactOptional(),
    part: z.enum(wrongParts).exactOptional().describe('What is wrong.'),
    explanation: z.string().exactOptional(),
    /** How far the sender's clock is behind ours. */
    skew_s: z.number().exactOptional(),
  }),
  /** The sandbox address answers 200 to everything. */
  answered: z.int().optional().describe('What the brand’s own address answered in a rehearsal.'),
  body: z.object({ bytes: z.int(), problem: z.string().optional() }),
  envelope: z.array(z.object({ pointer: z.string(), detail: z.string() })),
  /** The record that live processing would produce, or why there would be none; of several events, for the first. */
  outcome: outcomeSchema,
  events: z
    .array(z.object({ event_id: z.string(), event: z.string(), outcome: outcomeSchema }))
    .optional()
    .describe('When one body holds several events: each of them.'),
});
export type SandboxReport = z.infer<typeof sandboxReportSchema>;

/** The settings that the live endpoint uses. */
export interface Examined {
  readonly endpoint: Endpoint;
  readonly settings: PushSettings;
  readonly brand: Brand;
  readonly limits: StrictLimits;
  /** A refusal that the request headers alone cause. */
  readonly early: Refused | undefined;
}

/** Reports how a live endpoint would handle a request; pure except for the report's own id. */
export function reportOn(arrived: Arrived, { endpoint, settings, brand, limits, early }: Examined): SandboxReport {
  const verdict = verify(settings.verification, arrived, endpoint.secrets, arrived.receivedAt);
  // A wrong time says enough: the signature beside it may be right.
  const isAboutSignature = verdict.kind === 'refused' && verdict.reason.startsWith('signature_');
  const hint = isAboutSignature ? diagnose(settings.verification, arrived, endpoint.secrets) : undefined;
  const signature =
    verdict.kind === 'verified'
      ? { right: true, ...skewOf(settings, arrived) }
      : {
          right: false,
          reason: verdict.reason,
          ...explain(verdict.reason, hint),
          ...(verdict.skewS !== undefined && { skew_s: verdict.skewS }),
        };
  const refusedBySignature = verdict.kind === 'verified' ? undefined : answer.unauthorized(verdict.reason);
  const parsed = parsedBody(settings, arrived, limits);
  const read = parsed.kind === 'ok' ? readEvents(settings, parsed.value, arrived) : undefined;
  const body = parsed.kind === 'ok' ? parsed.value : null;
  const problems = read?.kind === 'invalid' ? read.problems : [];
  const badBody = parsed.kind === 'ok' ? undefined : parsed.refused;
  const disabled = settings.enabled ? undefined : answer.retiredEndpoint('push_disabled');
  const refusal =
    early ??
    disabled ??
    refusedBySignature ??
    badBody ??
    (problems.length > 0 ? answer.badEnvelope(problems) : undefined);
  return {
    report_id: randomId('rep'),
    at: new Date(arrived.receivedAt).toISOString(),
    event_id: read?.kind === 'ok' ? read.eventId : statedId(settings, { ...arrived, body }),
    ...named(body, read),
    would_answer: refusal
      ? { status: refusal.status, code: refusal.code, detail: refusal.detail }
      : { status: 202, detail: 'Accepted (200 if the event id were known already).' },
    signature,
    body: { bytes: arrived.rawBody.length, ...(badBody && { problem: badBody.detail }) },
    envelope: problems.map(({ pointer, detail }) => ({ pointer, detail })),
    ...outcomesOf(
      brand,
      read,
      arrived.receivedAt,
      badBody ? 'The body could not be read.' : 'The envelope is not valid.',
    ),
  };
}

/** How old a verified request is, where its sender states the time. */
function skewOf({ verification }: PushSettings, { headers, receivedAt }: Arrived): { skew_s?: number } {
  if (verification.type !== 'hmac') return {};
  const sentS = secondsIn(statedSignature(verification, headers).timestamp ?? '', verification.timestampFormat);
  return sentS === undefined ? {} : { skew_s: Math.floor(receivedAt / 1000) - sentS };
}

/** The event's name: ours when it maps to one, else the text in the `event` field. */
function named(body: Json, read: EventsRead | undefined): { event?: string } {
  const event = read?.kind === 'ok' ? read.events[0]?.event : (body as { event?: Json } | null)?.event;
  return typeof event === 'string' ? { event: event.slice(0, 100) } : {};
}

const mostShown = 20;

function outcomesOf(
  brand: Brand,
  read: EventsRead | undefined,
  receivedAt: EpochMs,
  whyNone: string,
): Pick<SandboxReport, 'outcome' | 'events'> {
  if (read?.kind !== 'ok') return { outcome: { kind: 'none', reason: whyNone } };
  const [first] = read.events;
  if (first === undefined) {
    return {
      outcome: {
        kind: 'ignored',
        reason: 'The connector maps none of its events: it would be accepted and not stored.',
      },
    };
  }
  const outcome = outcomeOf(brand, first, receivedAt);
  if (read.events.length === 1) return { outcome };
  const events = read.events.slice(0, mostShown).map((one) => {
    const { eventId, event } = one;
    return { event_id: eventId, event, outcome: one === first ? outcome : outcomeOf(brand, one, receivedAt) };
  });
  return { outcome, events };
}

function outcomeOf(brand: Brand, { event, data, occurredAt, body }: ReadEvent, receivedAt: EpochMs): SandboxOutcome {
  const thinGuest = event === 'guest.updated' ? thinIdOf(brand, 'guest', data) : undefined;
  if (thinGuest !== undefined) return { kind: 'fetched_first', guest_id: thinGuest };
  if (event === 'guest.updated') {
    const read = readGuests(brand, data, false);
    if (read.kind === 'invalid')
      return { kind: 'dead_letter', code: read.code, message: read.message, detail: read.detail };
    return guestOutcome(brand, read.updates);
  }
  const thin = thinIdOf(brand, 'reservation', data);
  if (thin !== undefined) return { kind: 'fetched_first', reservation_id: thin };
  const pending = { seq: 0, event, occurredAt: occurredAt ?? receivedAt, receivedAt, body, attempt: 0 };
  const statement = readEvent(brand, { event, data }, arrivalOf(pending));
  const made = decide(brand, undefined, statement);
  if (made.kind === 'change')
    return { kind: 'record', type: 'reservation', record: parseJson(made.text), notes: [...made.notes] };
  if (made.kind !== 'dead') return { kind: 'dropped', reason: made.reason ?? '' };
  const { code, message, detail } = statement.failure ?? made.deadLetter;
  const isPart = statement.isPart && event !== 'reservation.created';
  return isPart ? partialOutcome(statement, message) : { kind: 'dead_letter', code, message, detail };
}

/** The sandbox reads no stored data, so it cannot know whether the reservation is stored. */
function partialOutcome({ id, content, notes }: Statement, missing: string): SandboxOutcome {
  return {
    kind: 'record',
    type: 'reservation',
    record: { id, ...content?.values },
    notes: [...notes],
    effect: `Changes only these fields of the stored reservation. If it is not stored, the event becomes a dead letter (record.unknown_reservation): ${missing}.`,
  };
}

/** The sandbox reads no stored data, so it says how the profile would be found and not which one it is. */
function guestOutcome(brand: Brand, updates: readonly ReadGuest[]): SandboxOutcome {
  const outcomes = updates.map(({ update, notes }) => {
    const by = guestKeys(update.guest).map(({ kind }) => names.get(kind) ?? kind);
    if (update.reservationId !== undefined) by.push(`reservation ${update.reservationId}`);
    return { update, notes, by: [...new Set(by)] };
  });
  const identified = outcomes.filter(({ by }) => by.length > 0);
  const [first] = identified;
  if (first === undefined) {
    return { kind: 'dead_letter', code: 'push.guest_unidentified', message: unidentified, detail: {} };
  }
  const ruled = identified.map(({ update }) => ruleProfile(brand, update.guest, update));
  const failed = ruled.find((one) => one.kind === 'failed');
  if (failed) return { ...failed, kind: 'dead_letter' };
  const [dropped] = ruled;
  if (dropped?.kind === 'dropped' && ruled.every(({ kind }) => kind === 'dropped')) return dropped;
  const kept = ruled.filter((one) => one.kind === 'kept');
  const records = kept.map(({ guest }) => parseJson(encodeRecord(guest)));
  const skipped = outcomes.length - identified.length;
  return {
    kind: 'record',
    type: 'guest',
    record: records.length === 1 ? (records[0] ?? null) : { guests: records },
    notes: [...identified, ...kept].flatMap(({ notes }) => notes),
    effect:
      `Changes the profile found by ${first.by.join(', then ')}, or creates one, and the guest in future and in-house reservations.` +
      (skipped === 0 ? '' : ` Guests that cannot be identified: ${skipped}.`),
  };
}

const names: ReadonlyMap<string, string> = new Map([['email', 'e-mail']]);
