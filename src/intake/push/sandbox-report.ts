import type { Brand } from '../../brand/brand.ts';
import { encodeRecord } from '../../canonical/reservation.ts';
import { randomId } from '../../kit/ids.ts';
import { parseJson, parseStrictJson, type StrictLimits } from '../../kit/json.ts';
import { guestKeys } from '../../persons/identifiers.ts';
import { type ReadGuest, readGuests, ruleProfile } from '../../pipeline/guest.ts';
import { decide } from '../../pipeline.ts';
import type { Statement } from '../../reconcile/forms.ts';
import type { EpochMs, Json, Note } from '../../terms.ts';
import type { Refused } from './answer.ts';
import * as answer from './answer.ts';
import { diagnose, explain, type WrongPart } from './diagnose.ts';
import { type EventsRead, type ReadEvent, statedId } from './foreign-envelope.ts';
import { unidentified } from './guest-event.ts';
import type { Endpoint } from './ports.ts';
import { type Arrived, answerToBody, readEvents } from './receive.ts';
import { arrivalOf, stateEvent, thinIdOf } from './reservation-event.ts';
import type { PushSettings } from './settings.ts';
import { secondsIn, statedSignature, verify } from './verify.ts';

export interface SandboxReport {
  readonly report_id: string;
  readonly at: string;
  readonly event_id: string;
  readonly event?: string;
  /** The answer of the live endpoint to this request. */
  readonly would_answer: { readonly status: number; readonly code?: string; readonly detail: string };
  readonly signature: {
    readonly right: boolean;
    readonly reason?: string;
    readonly part?: WrongPart;
    readonly explanation?: string;
    /** How far the sender's clock is behind ours. */
    readonly skew_s?: number;
  };
  /** What the brand's own address answered in a rehearsal; the sandbox address answers 200 to everything. */
  readonly answered?: number;
  readonly body: { readonly bytes: number; readonly problem?: string };
  readonly envelope: readonly { readonly pointer: string; readonly detail: string }[];
  /** The record that live processing would produce, or why there would be none. */
  readonly outcome: SandboxOutcome;
  /** When one body holds several events: each of them; the first has the outcome above. */
  readonly events?: readonly { readonly event_id: string; readonly event: string; readonly outcome: SandboxOutcome }[];
}

type SandboxOutcome =
  | {
      readonly kind: 'record';
      readonly type: 'reservation' | 'guest';
      readonly record: Json;
      readonly notes: readonly Note[];
      /** The other effects of live processing. */
      readonly effect?: string;
    }
  | { readonly kind: 'dead_letter'; readonly code: string; readonly message: string; readonly detail: Json }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'fetched_first'; readonly reservation_id?: string; readonly guest_id?: string }
  /** Accepted and not stored: the connector maps none of its events. */
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'none'; readonly reason: string };

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
  const parsed = parseStrictJson(arrived.rawBody, limits);
  const read = parsed.kind === 'ok' ? readEvents(settings, parsed.value, arrived) : undefined;
  const body = parsed.kind === 'ok' ? parsed.value : null;
  const problems = read?.kind === 'invalid' ? read.problems : [];
  const badBody = parsed.kind === 'ok' ? undefined : answerToBody(parsed.reason, parsed.position);
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
  const statement = stateEvent(brand, { event, data }, arrivalOf(pending));
  const made = decide(brand, undefined, statement);
  if (made.kind === 'change')
    return { kind: 'record', type: 'reservation', record: parseJson(made.text), notes: made.notes };
  if (made.kind !== 'dead') return { kind: 'dropped', reason: made.reason ?? '' };
  const { code, message, detail } = statement.failure ?? made.deadLetter;
  const isPart = statement.isPart && event !== 'reservation.created';
  return isPart ? partialOutcome(statement, message) : { kind: 'dead_letter', code, message, detail };
}

/** The sandbox reads no stored data, so it cannot know whether the reservation is stored. */
function partialOutcome({ id, says, notes }: Statement, missing: string): SandboxOutcome {
  return {
    kind: 'record',
    type: 'reservation',
    record: { id, ...says?.values },
    notes,
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
