import type { Answer } from '../exchange.ts';
import type { FaultEntry, Twist } from './twist.ts';

/** Rules of the interface description that the API violates as a whole. */
export const contractFaults = {
  accepts_missing_dates: {
    what: 'accepts a list without dates',
    twist: () => ({ lenient: { missingDates: true } }),
  },
  accepts_malformed_dates: {
    what: 'accepts invalid dates',
    twist: () => ({ lenient: { malformedDates: true } }),
  },
  open_door: { what: 'requires no credentials', twist: () => ({ openDoor: true }) },
  forbidden_for_unauthorized: {
    what: '403 instead of 401',
    twist: () => status(401, (answer) => ({ ...answer, status: 403 })),
  },
  unauthorized_html: {
    what: '401 with an HTML page',
    twist: () =>
      status(401, (answer) => ({ ...answer, headers: { 'content-type': 'text/html' }, body: '<h1>Unauthorized</h1>' })),
  },
  error_for_bad_request: {
    what: '500 instead of 400',
    twist: () => status(400, (answer) => ({ ...answer, status: 500 })),
  },
  unknown_id_found: {
    what: '200 and null for an unknown id',
    twist: () =>
      status(404, (answer, path) => (/reservations\/./.test(path) ? { ...answer, status: 200, body: 'null' } : answer)),
  },
  thin_single: {
    what: 'the single reservation lacks its guests',
    twist: () => ({
      answer: (answer, { path }) => {
        if (!/^\/api\/reservations\/(?!search$)./.test(path) || answer.status !== 200) return answer;
        const { guests: _gone, ...rest } = JSON.parse(String(answer.body));
        return { ...answer, body: JSON.stringify(rest) };
      },
    }),
  },
  no_single: {
    what: 'has no call for a single reservation',
    twist: () => ({
      answer: (answer, { path }) =>
        /^\/api\/reservations\/(?!search$)./.test(path) && answer.status === 200
          ? { ...answer, status: 404, body: '{"error":{"code":"not_found","message":"No such endpoint."}}' }
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
    what: 'a body that is almost JSON',
    twist: () => status(200, (answer) => ({ ...answer, body: String(answer.body).replace(/([}\]])$/, ',$1') })),
  },
} as const satisfies Record<string, FaultEntry>;

function status(code: number, change: (answer: Answer, path: string) => Answer): Twist {
  return { answer: (answer, { path }) => (answer.status === code ? change(answer, path) : answer) };
}
