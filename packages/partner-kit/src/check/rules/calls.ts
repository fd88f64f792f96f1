import { isObject, type JsonObject } from '../../json.ts';
import type { Seen } from '../client.ts';
import { type Evidence, moved, rowKey } from '../evidence.ts';
import { broken, holds, ruleTable, unseen, type Verdict } from '../rule.ts';

/** Rules about each call. */
export const callRules = ruleTable<Evidence>({
  'auth.token': {
    title: 'The token endpoint issues an access token for the client’s credentials',
    change: 'Answer 200 with access_token, token_type and expires_in; check the client id and secret that you gave us.',
    judge: ({ token }) => {
      if (token === undefined) return unseen('The API does not use tokens.');
      const given = fieldOf(token, 'access_token');
      return given === undefined
        ? broken(`Status ${token.status}, no access_token.`, token.number)
        : holds('A token was issued.', token.number);
    },
  },
  'auth.refuses': {
    title: 'Missing and wrong credentials are refused with 401',
    change: 'Answer 401 if credentials are missing, wrong or expired: the service then authenticates again.',
    judge: ({ refused }) => (refused.length === 0 ? unseen('The API needs no credentials.') : allAnswer(refused, 401)),
  },
  'list.answers': {
    title: 'The list, requested with both dates, answers 200',
    change: 'Answer 200 with an array of reservations, or an object that contains it under reservations.',
    judge: ({ list, listed }) => {
      // Another rule reports text that is not JSON.
      if (list.status === 200 && list.json === undefined) return unseen('The response could not be read.');
      if (listed === undefined)
        return broken(
          list.status === 0
            ? (list.failure ?? 'No answer.')
            : `Status ${list.status}${list.status === 200 ? ' without a list' : ''}.`,
          list.number,
        );
      return holds(
        `${listed.records.length} records ${listed.root === '' ? 'in a bare array' : `under ${listed.root}`}.`,
        list.number,
      );
    },
  },
  'list.root': {
    level: 'should',
    title: 'The list is a bare array, or under reservations',
    change: 'Nothing to change: we set shape.root_path of the connector to this key.',
    judge: ({ list, listed }) => {
      if (listed === undefined) return unseen('There is no list.');
      const usual = listed.root === '' || listed.root === 'reservations';
      return usual
        ? holds(listed.root === '' ? 'A bare array.' : 'Under reservations.', list.number)
        : broken(`Under ${listed.root}.`, list.number);
    },
  },
  'list.missing_dates': {
    title: 'A list without dateFrom or dateTo is refused with 400',
    change: 'Answer 400 if one of the two dates is missing.',
    judge: ({ missing }) => allAnswer(missing, 400),
  },
  'list.malformed_dates': {
    title: 'An invalid date is refused with 400',
    change: 'Check both dates against the calendar and answer 400 if one does not parse or does not exist.',
    judge: ({ malformed }) => allAnswer(malformed, 400),
  },
  'list.range': {
    title: 'The list contains only reservations of the range',
    change: 'Filter by dateFrom and dateTo: return stays with at least one day in the range.',
    judge: ({ list, listed, range }) => {
      const stays = (listed?.records ?? []).flatMap((record) => {
        const days = [record.check_in, record.check_out]
          .filter((day) => typeof day === 'string' && /^\d{4}-\d\d-\d\d/.test(day))
          .sort();
        return days.length === 2 ? [days as [string, string]] : [];
      });
      if (stays.length === 0) return unseen(nothing(listed?.records, 'with dates that can be read'));
      const out = stays.filter(([first, last]) => first.slice(0, 10) > range.to || last.slice(0, 10) < range.from);
      const [one] = out;
      if (one === undefined)
        return holds(`${stays.length} stays, all touching ${range.from} to ${range.to}.`, list.number);
      return broken(
        `${out.length} of ${stays.length} are outside ${range.from} to ${range.to}, such as ${one.join(' to ')}.`,
        list.number,
      );
    },
  },
  'list.status': {
    title: 'status filters the list by that status',
    change: 'Apply the status parameter, in the spelling that your records use.',
    judge: ({ byStatus, listed }) => {
      if (byStatus === undefined) return unseen(nothing(listed?.records, 'to choose a status from'));
      const { asked, answer } = byStatus;
      const known = (listed?.records ?? []).some(({ status }) => status === asked);
      if (!known)
        return unseen('The list does not use the spellings confirmed, checked-in, checked-out and cancelled.');
      if (answer.status === 200 && answer.json === undefined) return unseen('The response could not be read.');
      if (byStatus.listed === undefined) return broken(`Status ${answer.status} for status=${asked}.`, answer.number);
      const others = byStatus.listed.records.filter(({ status }) => status !== asked);
      if (byStatus.listed.records.length === 0)
        return broken(`No reservations for ${asked}, although the list has some.`, answer.number);
      if (others.length > 0)
        return broken(`${others.length} of ${byStatus.listed.records.length} have a different status.`, answer.number);
      return holds(`${byStatus.listed.records.length} with ${asked}, no other.`, answer.number);
    },
  },
  'single.complete': {
    title: 'GET /api/reservations/{id} returns the complete reservation',
    change:
      'Answer with id, confirmation_number, check_in, check_out, status, guests, rooms and charges, as in the list.',
    judge: ({ single, listed }) => {
      if (single === undefined) return unseen(nothing(listed?.records, 'with an id'));
      const { answer, inList, id } = single;
      if ([404, 405, 501].includes(answer.status))
        return unseen(`Not offered (status ${answer.status}); it is optional.`);
      if (answer.status === 200 && answer.json === undefined) return unseen('The response could not be read.');
      const got = objectOf(answer);
      if (answer.status !== 200 || got === undefined)
        return broken(`Status ${answer.status} for ${id}${answer.status === 200 ? ', no object' : ''}.`, answer.number);
      const lacking = [
        'id',
        'confirmation_number',
        'check_in',
        'check_out',
        'status',
        'guests',
        'rooms',
        'charges',
      ].filter((key) => got[key] === undefined && inList[key] !== undefined);
      if (lacking.length > 0) return broken(`${lacking.join(', ')} missing, although the list has it.`, answer.number);
      const other = ['id', 'check_in', 'check_out'].filter(
        (key) => inList[key] !== undefined && got[key] !== inList[key],
      );
      return other.length > 0
        ? broken(`${other.join(', ')} differ from the list.`, answer.number)
        : holds('The same as in the list.', answer.number);
    },
  },
  'single.unknown': {
    title: 'An unknown id is answered with 404',
    change: 'Answer 404 for an unknown id, not an empty 200.',
    judge: ({ unknown }) => (unknown === undefined ? unseen('Not asked.') : allAnswer([unknown], 404)),
  },
  'search.same': {
    level: 'should',
    title: 'POST /api/reservations/search returns the same as the list',
    change: 'Return the same reservations for the same dates from both calls, or do not offer the search.',
    judge: (evidence) => {
      const { search, listed, walk } = evidence;
      if (search === undefined || listed === undefined)
        return unseen('Not tested in addition, or there is no list to compare with.');
      const { answer } = search;
      if (answer.status === 0 || answer.status >= 400)
        return unseen(`Not offered (status ${answer.status}); it is an alternative to the list.`);
      if (answer.json === undefined) return unseen('The response could not be read.');
      if (search.listed === undefined) return broken('The response contains no list.', answer.number);
      const known = new Set(
        [...listed.records, ...(walk?.pages.flatMap((page) => page.listed?.records ?? []) ?? [])].map(rowKey),
      );
      const strange = search.listed.records.filter((record) => !known.has(rowKey(record)));
      if (search.listed.records.length === 0 && listed.records.length > 0)
        return broken('It is empty, although the list has reservations.', answer.number);
      // If the list was not read to its end, records beyond that point prove nothing.
      if (strange.length > 0 && walk?.end !== 'ended') return unseen('The list is too long to compare.');
      if (strange.length > 0 && moved(evidence))
        return unseen('The list changed while it was read; run the check at a quieter time.');
      return strange.length > 0
        ? broken(`${strange.length} records are not in the list.`, answer.number)
        : holds(`${search.listed.records.length} records, all in the list.`, answer.number);
    },
  },
});

function allAnswer(seen: readonly Seen[], status: number): Verdict {
  const [first] = seen;
  if (first === undefined) return unseen('Not asked.');
  const bad = seen.find((one) => one.status !== status);
  if (bad === undefined)
    return holds(`${seen.length === 1 ? 'Answered' : `All ${seen.length} answered`} with ${status}.`, first.number);
  return broken(
    `${bad.status === 0 ? (bad.failure ?? 'No answer') : `Status ${bad.status}`} for ${bad.purpose}.`,
    bad.number,
  );
}

function objectOf({ json }: Seen): JsonObject | undefined {
  return isObject(json) ? json : undefined;
}

function fieldOf(seen: Seen, name: string) {
  return objectOf(seen)?.[name];
}

export function nothing(records: readonly JsonObject[] | undefined, what: string): string {
  return records === undefined
    ? 'There is no list.'
    : `No reservation ${what} in this week; choose another with --from and --to.`;
}
