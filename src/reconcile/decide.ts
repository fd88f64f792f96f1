import type { Guest } from '../canonical/reservation.ts';
import { newerConsent } from './consent.ts';
import type { Consent } from './consent-run.ts';
import { type Content, type ContentOf, statusOf } from './content.ts';
import { merged } from './decide-among-sources.ts';
import type { LockedRecord } from './decision.ts';
import {
  type Arriving,
  arrivedAt,
  type Decision,
  droppedOrDead,
  isOfList,
  isRuled,
  newerIsStored,
  stillShown,
} from './decision.ts';
import { difference } from './difference.ts';
import type { Message, Prepared } from './incoming.ts';
import { withConsent } from './profile.ts';
import { changeAfter, reconcile } from './reconcile.ts';
import { isNewer, isRawOnly, type Moment } from './statement.ts';
import { isSole, type StoredViews, soleView, storedViews } from './stored-views.ts';
import { accept } from './view.ts';

/** `sightedAt`: when the partner's list last showed the pulled state, if that was after the message. */
export function decide(arriving: Arriving, before: LockedRecord | undefined, sightedAt: Date | undefined): Decision {
  const { message } = arriving.prepared;
  if (before === undefined || before.version === 0) return decideFirst(arriving);
  const isPullAlone =
    message === undefined ||
    (message.source === 'pull' &&
      message.isOnlySource &&
      isSole(before.views, 'pull') &&
      isReadable(arriving, message));
  if (isPullAlone) return replaced(arriving, before, sightedAt);
  return merged(arriving, message, before, sightedAt);
}

/** A whole record, and no value that was kept as `…_raw` or left out because it could not be read. */
function isReadable({ alone }: Arriving, { unread }: Message): boolean {
  const guests = alone !== undefined && 'guests' in alone.record ? alone.record.guests : undefined;
  if (guests === undefined || unread.size > 0) return false;
  return !guests.some((guest) => isRawOnly(guest, 'email') || isRawOnly(guest, 'phone'));
}

/** The first message of a record. */
export function decideFirst(arriving: Arriving): Decision {
  const { alone, prepared } = arriving;
  if (alone === undefined) return droppedOrDead(prepared);
  const { message } = prepared;
  const moment = arrivedAt(arriving);
  const status = statusOf(alone.record);
  return {
    kind: 'change',
    ...changeAfter(undefined, status),
    content: alone,
    state: {
      moment,
      views: message ? firstViews(message, moment, isRuled(prepared)) : profileViews(prepared),
    },
    // Everything is new in the first version, and its data shows that already.
    diff: [],
    notes: prepared.kind === 'record' ? prepared.incoming.notes : [],
  };
}

function firstViews(message: Message, moment: Moment, ruled: boolean): StoredViews | undefined {
  const { source, isOnlySource, manner } = message;
  if (source === 'pull' && isOnlySource && !ruled) return undefined;
  // The usual case: the view equals the record, so no separate view is stored.
  if (!ruled && message.isVerbatim && manner.lists === 'replace') {
    return soleView(source, moment, message.empties(), message.itemIds());
  }
  return storedViews({ [source]: accept(undefined, message.says(), moment, manner) }, ruled);
}

const profileViews = (prepared: Prepared): StoredViews | undefined =>
  prepared.kind === 'record' && prepared.incoming.consent ? { consent: prepared.incoming.consent } : undefined;

/** The source and time of a consent are kept for as long as the profile has that consent. */
const consentKept = ({ type }: Arriving, record: object, views: StoredViews | undefined): StoredViews | undefined =>
  type === 'guest' && ((record as Guest).marketing_consent ?? null) === views?.consent?.value ? views : undefined;

/** The newer of the message's statement and the profile's; undefined if the message states nothing. */
function newestConsent(prepared: Prepared, { views }: LockedRecord): Consent | undefined {
  if (prepared.kind !== 'record') return undefined;
  const { consent: stated, isDecision } = prepared.incoming;
  return stated === undefined || isDecision ? stated : newerConsent(views?.consent, stated);
}

/** A newer message may have an older consent than a reservation that repeated its own since then. */
function contentWith(content: Content, consent: Consent | undefined, contentOf: ContentOf): Content {
  const record = withConsent(content.record as Guest, consent);
  return record === content.record ? content : contentOf(record);
}

/** There is no other source: the newest state replaces the record. */
function replaced(arriving: Arriving, before: LockedRecord, sightedAt: Date | undefined): Decision {
  const { prepared } = arriving;
  const moment = arrivedAt(arriving);
  if (arriving.alone === undefined) return droppedOrDead(prepared);
  const stated = newestConsent(prepared, before);
  const alone = arriving.type === 'guest' ? contentWith(arriving.alone, stated, arriving.contentOf) : arriving.alone;
  const status = statusOf(alone.record);
  const verdict = reconcile(before, { moment, hash: alone.hash, status });
  const { views } = before;
  if (verdict.kind === 'unchanged') {
    const isLater = isNewer(moment, before.moment);
    const isRestated = stated !== undefined && stated !== views?.consent;
    const state = {
      moment: isLater ? moment : before.moment,
      views: stated === undefined ? views : { consent: stated },
    };
    const isShown = isOfList(arriving);
    return { kind: 'unchanged', version: before.version, ...((isLater || isRestated) && { state }), isShown };
  }
  if (verdict.kind === 'superseded') {
    return lateConsent(arriving, before) ?? { kind: 'superseded', version: before.version, reason: newerIsStored };
  }
  if (sightedAt !== undefined) return { kind: 'superseded', version: before.version, reason: stillShown(sightedAt) };
  return {
    ...verdict,
    content: alone,
    state: {
      moment,
      views: stated === undefined ? consentKept(arriving, alone.record, views) : { consent: stated },
    },
    diff: difference(before.data, alone.json()),
    notes: prepared.kind === 'record' ? prepared.incoming.notes : [],
  };
}

/**
 * A message that is older than the profile changes its consent, if nothing newer was stated about it: a withdrawal must not be lost
 * because another message about the guest was faster.
 */
function lateConsent({ type, prepared, contentOf }: Arriving, before: LockedRecord): Decision | undefined {
  const stated = prepared.kind === 'record' ? prepared.incoming.consent : undefined;
  if (type !== 'guest' || stated === undefined) return undefined;
  const consent = newerConsent(before.views?.consent, stated);
  if (consent === before.views?.consent) return undefined;
  const content = contentOf(withConsent(before.data as Guest, consent));
  const { version, moment } = before;
  const state = { moment, views: { consent } };
  if (content.hash === before.hash) return { kind: 'superseded', version, reason: newerIsStored, state };
  const diff = difference(before.data, content.json());
  return { kind: 'change', ...changeAfter(before, undefined), content, state, diff, notes: [] };
}
