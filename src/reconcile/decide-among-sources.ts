import { isRemoved, removedContent, unlessOwnHash } from './content.ts';
import type { LockedRecord } from './decision.ts';
import { type Arriving, type Decision, newerIsStored, stillShown } from './decision.ts';
import { difference } from './difference.ts';
import type { Message } from './incoming.ts';
import { mergeMessage, saidAt } from './merge-message.ts';
import { consentNotes, keptNotes } from './merge-notes.ts';
import { changeAfter } from './reconcile.ts';
import { readViews, storedViews } from './said.ts';
import { type SaidState, saidText } from './said-state.ts';
import { isNewer, type Mark } from './statement.ts';

/** Merges the message with the statements of other sources. */
export function merged(
  arriving: Arriving,
  message: Message,
  before: LockedRecord,
  sightedAt: Date | undefined,
): Decision {
  const { arrival, seq, contentOf } = arriving;
  const said: Mark = [arrival.effectiveAt, seq];
  const known = readViews(before.said, before.reservation(), [before.effectiveAt, before.seq]);
  const { pull } = known;
  const isSeenSince = pull !== undefined && sightedAt !== undefined && sightedAt.getTime() > pull.said[0];
  const views = isSeenSince ? { ...known, pull: saidAt(pull, [sightedAt.getTime(), 0]) } : known;
  const result = mergeMessage(views, message, said);
  const finished = message.finish(result.draft);
  if (finished.kind === 'dead') return finished;
  const [effectiveAt, newestSeq] = isNewer(said, [before.effectiveAt, before.seq])
    ? said
    : [before.effectiveAt, before.seq];
  if (finished.kind === 'dropped') {
    const left = { effectiveAt, seq: newestSeq, said: storedViews(result.views, true), pulledHash: '' };
    return removed(finished.reason, message, arriving, before, left);
  }
  const content = contentOf(finished.record);
  const inLine = pulledHashAfter(arriving, message, before, result);
  const state: SaidState = {
    effectiveAt,
    seq: newestSeq,
    said: storedViews(result.views, finished.isRuled),
    pulledHash: unlessOwnHash(content, inLine),
  };
  const { isOverruled } = result;
  if (content.hash === before.hash) {
    const reason = sightedAt === undefined ? newerIsStored : stillShown(sightedAt);
    return {
      kind: isOverruled ? 'superseded' : 'unchanged',
      version: before.version,
      ...(isOverruled && { reason, isOverruled }),
      ...(!isSameState(before, state) && { state }),
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
      ...(arrival.cause === 'guest' ? [] : keptNotes(result.givers, message.source, said)),
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
  state: SaidState,
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

/** Hash of the pulled row that the record is in line with after the message; empty where it is in line with none. */
function pulledHashAfter(
  arriving: Arriving,
  { source }: Message,
  before: LockedRecord,
  { isPullInForce }: { readonly isPullInForce: boolean },
): string {
  if (!isPullInForce) return '';
  return source === 'pull' ? arriving.hash : (before.pulledHash ?? before.hash);
}

function isSameState(before: LockedRecord, { effectiveAt, seq, said, pulledHash }: SaidState): boolean {
  return (
    before.effectiveAt === effectiveAt &&
    before.seq === seq &&
    before.pulledHash === pulledHash &&
    saidText(before.said) === saidText(said)
  );
}
