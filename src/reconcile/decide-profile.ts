import { decodeRecord, type Guest, recordText } from '../canonical/reservation.ts';
import { parseJson } from '../kit/json.ts';
import { newerConsent } from './consent.ts';
import { difference } from './difference.ts';
import { changeAfter, type Decision, newerIsStored, type Statement, type Stored } from './forms.ts';
import { momentOf } from './hear.ts';
import { withConsent } from './profile.ts';
import { isNewer } from './says.ts';

/**
 * A profile is made from reservations and events, which have their own order: its newest state replaces it, except that a consent follows
 * the rule of consent, whatever arrived first.
 */
export function decideProfile(stored: Stored | undefined, statement: Statement): Decision {
  if (statement.dropped !== undefined) return { kind: 'dropped', reason: statement.dropped };
  if (statement.record === undefined) throw new TypeError('a profile without content');
  const stated = statement.record as Guest;
  const moment = momentOf(statement.arrival);
  if (stored === undefined || stored.version === 0) {
    const { consent } = statement;
    const state = { moment, views: consent && { consent } };
    const text = recordText(stated);
    return {
      kind: 'change',
      ...changeAfter(undefined, undefined),
      record: stated,
      text,
      state,
      diff: [],
      notes: statement.notes,
    };
  }
  const { version, views } = stored;
  const { consent: said, isDecision } = statement;
  const consent = said === undefined || isDecision ? said : newerConsent(views?.consent, said);
  const record = withConsent(stated, consent);
  const text = recordText(record);
  if (text === stored.text) {
    const isLater = isNewer(moment, stored.moment);
    const isRestated = consent !== undefined && consent !== views?.consent;
    const state = { moment: isLater ? moment : stored.moment, views: consent === undefined ? views : { consent } };
    return { kind: 'unchanged', version, ...((isLater || isRestated) && { state }) };
  }
  if (isNewer(stored.moment, moment)) {
    return lateConsent(statement, stored) ?? { kind: 'superseded', version, reason: newerIsStored };
  }
  const kept = (record.marketing_consent ?? null) === views?.consent?.value ? views : undefined;
  return {
    kind: 'change',
    ...changeAfter(stored, undefined),
    record,
    text,
    state: { moment, views: consent === undefined ? kept : { consent } },
    diff: difference(parseJson(stored.text), parseJson(text)),
    notes: statement.notes,
  };
}

/**
 * A statement that is older than the profile changes its consent, if nothing newer was said about it: a withdrawal must not be lost
 * because another message about the guest was faster.
 */
function lateConsent({ consent: stated }: Statement, stored: Stored): Decision | undefined {
  const { version, moment, views } = stored;
  const consent = stated && newerConsent(views?.consent, stated);
  if (consent === undefined || consent === views?.consent) return undefined;
  const record = withConsent(decodeRecord('guest', stored.text), consent);
  const text = recordText(record);
  const state = { moment, views: { consent } };
  if (text === stored.text) return { kind: 'superseded', version, reason: newerIsStored, state };
  const diff = difference(parseJson(stored.text), parseJson(text));
  return { kind: 'change', ...changeAfter(stored, undefined), record, text, state, diff, notes: [] };
}
