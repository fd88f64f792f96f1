import type { Answer } from '../exchange.ts';
import type { FaultEntry, Twist } from './twist.ts';

/** Rules of the description that the API as a whole does not keep. */
export const contractFaults = {
  accepts_missing_dates: {
    what: 'a list without dates is answered',
    twist: () => ({ lenient: { missingDates: true } }),
  },
  accepts_malformed_dates: {
    what: 'dates that are none are answered',
    twist: () => ({ lenient: { malformedDates: true } }),
  },
  open_door: { what: 'nobody is asked for credentials', twist: () => ({ openDoor: true }) },
  forbidden_for_unauthorized: {
    what: '403 in the place of 401',
    twist: () => status(401, (answer) => ({ ...answer, status: 403 })),
  },
  unauthorized_html: {
    what: '401 with a page of HTML',
    twist: () =>
      status(401, (answer) => ({ ...answer, headers: { 'content-type': 'text/html' }, body: '<h1>Unauthorized</h1>' })),
  },
  error_for_bad_request: {
    what: '500 in the place of 400',
    twist: () => status(400, (answer) => ({ ...answer, status: 500 })),
  },
  unknown_id_found: {
    what: '200 and null for an unknown id',
    twist: () =>
      status(404, (answer, path) => (/reservations\/./.test(path) ? { ...answer, status: 200, body: 'null' } : answer)),
  },
  thin_single: {
    what: 'the single reservation comes without its guests',
    twist: () => ({
      answer: (answer, { path }) => {
        if (!/^\/api\/reservations\/(?!search$)./.test(path) || answer.status !== 200) return answer;
        const { guests: _gone, ...rest } = JSON.parse(String(answer.body));
        return { ...answer, body: JSON.stringify(rest) };
      },
    }),
  },
  no_single: {
    what: 'there is no call for a single reservation',
    twist: () => ({
      answer: (answer, { path }) =>
        /^\/api\/reservations\/(?!search$)./.test(path) && answer.status === 200
          ? { ...answer, status: 404, body: '{"error":{"code":"not_found","message":"There is no such endpoint."}}' }
          : answer,
    }),
  },
  text_plain: {
    what: 'Content-Type text/plain',
    twist: () => ({
      answer: (answer) => ({ ...answer, headers: { ...answer.headers, 'content-type': 'text/plain; charset=utf-8' } }),
    }),
  },
  latin1: {
    what: 'bodies in ISO 8859-1',
    twist: () => ({
      answer: (answer) => ({
        ...answer,
        body: Buffer.from(
          String(answer.body)
            .replace(/[^\0-\xff]/g, '?')
            .replace(/"page":/, '"\u00e9":1,"page":'),
          'latin1',
        ),
      }),
    }),
  },
  trailing_comma: {
    what: 'a body that is nearly JSON',
    twist: () => status(200, (answer) => ({ ...answer, body: String(answer.body).replace(/([}\]])$/, ',$1') })),
  },
} as const satisfies Record<string, FaultEntry>;

function status(code: number, change: (answer: Answer, path: string) => Answer): Twist {
  return { answer: (answer, { path }) => (answer.status === code ? change(answer, path) : answer) };
}
