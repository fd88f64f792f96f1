import { isRemoved, removedContent } from './content.ts';
import type { LockedRecord } from './decision.ts';
import { type Arriving, arrivedAt, type Decision, isOfList, newerIsStored, stillShown } from './decision.ts';
import { difference } from './difference.ts';
import type { Message } from './incoming.ts';
import { mergeMessage, statedAt } from './merge-message.ts';
import { consentNotes, keptNotes } from './merge-notes.ts';
import { changeAfter } from './reconcile.ts';
import { type RecordState, viewsText } from './record-state.ts';
import { isNewer } from './statement.ts';
import { readViews, storedViews } from './stored-views.ts';
import { statesSame, type View } from './view.ts';

/** Merges the message with the statements of other sources. */
export function merged(
  arriving: Arriving,
  message: Message,
  before: LockedRecord,
  sightedAt: Date | undefined,
): Decision {
  const { arrival, contentOf } = arriving;
  const moment = arrivedAt(arriving);
  const known = readViews(before.views, before.reservation(), before.moment);
  const { pull } = known;
  const isSeenSince = pull !== undefined && sightedAt !== undefined && sightedAt.getTime() > pull.moment[0];
  const views = isSeenSince ? { ...known, pull: statedAt(pull, [sightedAt.getTime(), 0]) } : known;
  const result = mergeMessage(views, message, moment);
  const finished = message.finish(result.draft);
  if (finished.kind === 'dead') return finished;
  const newest = isNewer(moment, before.moment) ? moment : before.moment;
  if (finished.kind === 'dropped') {
    const left = { moment: newest, views: storedViews(result.views, true) };
    return removed(finished.reason, message, arriving, before, left);
  }
  const content = contentOf(finished.record);
  const state: RecordState = { moment: newest, views: storedViews(result.views, finished.isRuled) };
  const { isOverruled } = result;
  if (content.hash === before.hash) {
    const reason = sightedAt === undefined ? newerIsStored : stillShown(sightedAt);
    return {
      kind: isOverruled ? 'superseded' : 'unchanged',
      version: before.version,
      ...(isOverruled && { reason, isOverruled }),
      ...(!isSameState(before, state) && { state }),
      isShown: !isOverruled && isRepeated(arriving, message, pull, result.views.pull),
    };
  }
  const diff = difference(before.data, content.json());
  return {
    kind: 'change',
    ...changeAfter(before, finished.record.status),
    content,
    state,
    diff,
    notes: [
      ...message.notes,
      ...finished.notes,
      // A guest event is about one guest; that the rest of the reservation stays needs no note.
      ...(arrival.cause === 'guest' ? [] : keptNotes(result.givers, message.source, moment)),
      ...consentNotes(diff, (path) => result.givers.get(path)),
    ],
    ...(isOverruled && { isOverruled }),
  };
}

/** A rule drops the merged record: its destinations get a last version. */
function removed(
  reason: string,
  message: Message,
  { contentOf }: Arriving,
  before: LockedRecord,
  state: RecordState,
): Decision {
  if (isRemoved(before)) return { kind: 'dropped', reason, state };
  return {
    kind: 'change',
    event: 'removed',
    version: before.version + 1,
    content: removedContent(contentOf(before.reservation())),
    state,
    diff: [],
    notes: [...message.notes, { step: 'transform', field: '', code: 'removed', reason }],
  };
}

/** Values that could not be read are noted, unless the row cannot be recognised the next time: it would be noted at each poll. */
function isRepeated(
  arriving: Arriving,
  { unread }: Message,
  before: View | undefined,
  after: View | undefined,
): boolean {
  const { prepared } = arriving;
  const isNoted = unread.size > 0 && prepared.kind === 'record' && (prepared.listed ?? 1) > 0;
  return isOfList(arriving) && !isNoted && before !== undefined && after !== undefined && statesSame(before, after);
}

function isSameState(before: LockedRecord, { moment, views }: RecordState): boolean {
  return (
    before.moment[0] === moment[0] && before.moment[1] === moment[1] && viewsText(before.views) === viewsText(views)
  );
}
