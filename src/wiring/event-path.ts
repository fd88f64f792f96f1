import { createHash } from 'node:crypto';
import { toGuest } from '../canonical/check.ts';
import { describeProblems } from '../canonical/field-check.ts';
import type { EventPath, GuestIdentity, GuestRead } from '../intake/push/event-path.ts';
import { textAt } from '../intake/push/place.ts';
import { normalizeGuest } from '../normalize/normalize.ts';
import { cancelledStatus } from '../reconcile/cancelled.ts';
import { guestKeys, profileId } from '../reconcile/guest-match.ts';
import { planProfile, planReservations } from '../reconcile/guest-update.ts';
import type { ActiveIntegration } from '../runtime/active.ts';
import type { Json } from '../terms.ts';

const paths = new WeakMap<ActiveIntegration, EventPath>();

/** The path of a brand's events, compiled once for each version of its documents. */
export function eventPathOf(integration: ActiveIntegration): EventPath {
  const known = paths.get(integration);
  if (known) return known;
  const { path, connector, body } = integration;
  const thin = connector.body.push?.thin;
  const made: EventPath = {
    ...(thin && { thinId: (data: Json) => textAt(data, [thin.id].flat()) }),
    record: (data) => path.pushShaper.single(data),
    hydratedRecord: (found) => path.singleShaper.single(found),
    prepare: path.prepare,
    finish: path.finish,
    guest: (data) => readGuest(integration, data),
    today: (at) =>
      Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(body.timezone).toPlainDate().toString(),
    identity: identityOf(integration.name),
  };
  paths.set(integration, made);
  return made;
}

function readGuest({ path, body }: ActiveIntegration, data: Json): GuestRead {
  const draft = path.pushShaper.guestDraft(data);
  const checked = toGuest(draft);
  if (checked.kind === 'invalid') {
    const message = describeProblems(checked.problems);
    return {
      kind: 'invalid',
      code: checked.code,
      message,
      detail: { problems: checked.problems.map((one) => ({ ...one })) },
    };
  }
  const { guest, notes } = normalizeGuest(checked.guest, body.country === undefined ? {} : { country: body.country });
  const present = draft.guestId === undefined ? draft.present : new Set([...draft.present, 'guest_id']);
  const { reservationId } = draft;
  return {
    kind: 'ok',
    update: { guest, present, ...(reservationId !== undefined && { reservationId }) },
    notes: [...draft.notes, ...checked.notes, ...notes],
  };
}

function identityOf(integration: string): GuestIdentity {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  return {
    keys: guestKeys,
    newId: (guest) => profileId(integration, guest, digest),
    planProfile,
    planReservations,
    cancelled: cancelledStatus,
  };
}
