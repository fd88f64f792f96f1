import { decodeRecord, type Guest, recordText } from '../canonical/reservation.ts';
import { parseJson } from '../kit/json.ts';
import { newerConsent } from './consent.ts';
import { difference } from './difference.ts';
import { changeAfter, type Decision, momentOf, newerIsStored, type Statement, type Stored } from './forms.ts';
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
    const state = { moment, claims: consent && { consent } };
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
  const { version, claims } = stored;
  const { consent: said, isDecision } = statement;
  const consent = said === undefined || isDecision ? said : newerConsent(claims?.consent, said);
  const record = withConsent(stated, consent);
  const text = recordText(record);
  if (text === stored.text) {
    const isLater = isNewer(moment, stored.moment);
    const isRestated = consent !== undefined && consent !== claims?.consent;
    const state = { moment: isLater ? moment : stored.moment, claims: consent === undefined ? claims : { consent } };
    return { kind: 'unchanged', version, ...((isLater || isRestated) && { state }) };
  }
  if (isNewer(stored.moment, moment)) {
    return lateConsent(statement, stored) ?? { kind: 'superseded', version, reason: newerIsStored };
  }
  const kept = (record.marketing_consent ?? null) === claims?.consent?.value ? claims : undefined;
  return {
    kind: 'change',
    ...changeAfter(stored, undefined),
    record,
    text,
    state: { moment, claims: consent === undefined ? kept : { consent } },
    diff: difference(parseJson(stored.text), parseJson(text)),
    notes: statement.notes,
  };
}

/**
 * A statement that is older than the profile changes its consent, if nothing newer was said about it: a withdrawal must not be lost
 * because another message about the guest was faster.
 */
function lateConsent({ consent: stated }: Statement, stored: Stored): Decision | undefined {
  const { version, moment, claims } = stored;
  const consent = stated && newerConsent(claims?.consent, stated);
  if (consent === undefined || consent === claims?.consent) return undefined;
  const record = withConsent(decodeRecord('guest', stored.text), consent);
  const text = recordText(record);
  const state = { moment, claims: { consent } };
  if (text === stored.text) return { kind: 'superseded', version, reason: newerIsStored, state };
  const diff = difference(parseJson(stored.text), parseJson(text));
  return { kind: 'change', ...changeAfter(stored, undefined), record, text, state, diff, notes: [] };
}
