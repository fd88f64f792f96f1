import { parseJson } from '../../kit/json.ts';
import { decodeRecord, type Guest, recordText } from '../canonical/reservation.ts';
import { type Consent, newerConsent, withoutOwn } from './consent.ts';
import { type FieldTimes, isNewer } from './content.ts';
import { difference } from './difference.ts';
import { changeAfter, type Decision, newerIsStored, type Statement, type Stored, timeOf } from './forms.ts';
import { statedAt, withConsent } from './profile.ts';
import type { StoredClaims } from './stored-claims.ts';

/**
 * A profile is made from reservations and events, which have their own order: each field has its newest statement, and consent follows the
 * rule of consent, whatever arrived first. An operator's decision replaces the whole.
 */
export function decideProfile(stored: Stored | undefined, statement: Statement): Decision {
  if (statement.dropped !== undefined) return { kind: 'dropped', reason: statement.dropped };
  if (statement.record === undefined) throw new TypeError('a profile without content');
  const stated = statement.record as Guest;
  const time = timeOf(statement.receipt);
  if (stored === undefined || stored.version === 0) {
    const { consent } = statement;
    const state = { time, claims: consent && { consent } };
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
  const { version } = stored;
  const { consent: said, isDecision, present, fallback } = statement;
  const claims = fallback ? { ...stored.claims, consent: withoutOwn(stored.claims?.consent, time[0]) } : stored.claims;
  const known = { guest: decodeRecord('guest', stored.text), time: stored.time, times: claims?.times };
  const folded = present && statedAt(known, stated, present, time, fallback);
  const consent = said === undefined || isDecision ? said : newerConsent(claims?.consent, said);
  const isTakenBack = fallback && stored.claims?.consent !== undefined && claims?.consent === undefined;
  const nothing = isTakenBack ? ({ value: null, source: 'guest', at: time[0] } as const) : undefined;
  const record = withConsent(folded?.guest ?? stated, consent ?? (folded && (claims?.consent ?? nothing)));
  const text = recordText(record);
  const kept = folded || (record.marketing_consent ?? null) === claims?.consent?.value ? claims?.consent : undefined;
  const next = claimsOf(consent ?? kept, folded?.times);
  const isLate = isNewer(stored.time, time);
  if (text === stored.text) {
    const state = { time: isLate ? stored.time : time, claims: next };
    const isSame = !isNewer(time, stored.time) && JSON.stringify(next) === JSON.stringify(claims);
    if (isLate) return { kind: 'superseded', version, reason: newerIsStored, ...(!isSame && { state }) };
    return { kind: 'unchanged', version, ...(!isSame && { state }) };
  }
  if (isLate && folded === undefined) {
    return lateConsent(statement, stored) ?? { kind: 'superseded', version, reason: newerIsStored };
  }
  return {
    kind: 'change',
    ...changeAfter(stored, undefined),
    record,
    text,
    state: { time: folded?.time ?? time, claims: next },
    diff: difference(parseJson(stored.text), parseJson(text)),
    notes: statement.notes,
  };
}

function claimsOf(consent: Consent | undefined, times: FieldTimes | undefined): StoredClaims | undefined {
  if (consent === undefined && times === undefined) return undefined;
  return { ...(consent && { consent }), ...(times && { times }) };
}

/**
 * A statement that is older than the profile changes its consent, if nothing newer was said about it: a withdrawal must not be lost
 * because another message about the guest was faster.
 */
function lateConsent({ consent: stated }: Statement, stored: Stored): Decision | undefined {
  const { version, time, claims } = stored;
  const consent = stated && newerConsent(claims?.consent, stated);
  if (consent === undefined || consent === claims?.consent) return undefined;
  const record = withConsent(decodeRecord('guest', stored.text), consent);
  const text = recordText(record);
  const state = { time, claims: { consent } };
  if (text === stored.text) return { kind: 'superseded', version, reason: newerIsStored, state };
  const diff = difference(parseJson(stored.text), parseJson(text));
  return { kind: 'change', ...changeAfter(stored, undefined), record, text, state, diff, notes: [] };
}
