import type { Seen } from '../client.ts';
import type { Evidence } from '../evidence.ts';
import { broken, holds, ruleTable, unseen } from '../rule.ts';

/** Rules for every response, including refusals. */
export const transportRules = ruleTable<Evidence>({
  'answers.stable': {
    title: 'Every request gets a response, and none is a server error',
    change: 'Find in your logs why these requests failed; a 5xx or a dropped connection delays the poll.',
    judge: ({ all }) => {
      const bad = all.filter((seen) => (seen.status === 0 || seen.status >= 500) && !isRefusal(seen));
      const [first] = bad;
      if (first === undefined) return holds(`${all.length} requests, all answered.`);
      return broken(
        `${bad.length} of ${all.length}: ${first.failure ?? `status ${first.status}`} for ${first.purpose}.`,
        first.number,
      );
    },
  },
  'answers.json_type': {
    title: 'Every response has Content-Type application/json',
    change: 'Send Content-Type: application/json with every response, including errors.',
    judge: ({ all }) =>
      firstBad(
        withBody(all),
        (seen) => /^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(seen.contentType),
        (seen) => `${seen.purpose}: Content-Type is ${seen.contentType || 'missing'}`,
      ),
  },
  'answers.utf8': {
    title: 'Every body is UTF-8',
    change: 'Encode bodies as UTF-8; otherwise accented names are lost.',
    judge: ({ all }) =>
      firstBad(
        withBody(all),
        (seen) => seen.utf8,
        (seen) => `${seen.purpose}: bytes that are not UTF-8`,
      ),
  },
  'answers.valid_json': {
    title: 'Every body is valid JSON',
    change: 'Write bodies with a JSON library; XML and SOAP need a custom adapter.',
    judge: ({ all }) =>
      firstBad(
        // Another rule reports a wrong Content-Type.
        withBody(all).filter((seen) => !/html|xml/i.test(seen.contentType)),
        (seen) => seen.json !== undefined,
        (seen) => `${seen.purpose}: ${/^\s*</.test(seen.body) ? 'markup' : 'text that does not parse'}`,
      ),
  },
  'answers.retry_after': {
    title: '429 has Retry-After in seconds',
    change: 'Send Retry-After, in seconds, with every 429.',
    judge: ({ all }) => {
      const limited = all.filter((seen) => seen.status === 429);
      if (limited.length === 0) return unseen('The rate limit was not reached.');
      return firstBad(
        limited,
        (seen) => /^\d+$/.test(seen.retryAfter?.trim() ?? ''),
        (seen) => `${seen.purpose}: Retry-After is ${seen.retryAfter ?? 'missing'}`,
      );
    },
  },
});

/** Requests that are wrong on purpose; other rules judge their responses. */
function isRefusal({ purpose }: Seen): boolean {
  return /^a (list with|list without|reservation that)/.test(purpose) || purpose.startsWith('the same week by POST');
}

/** Responses with a body, except refusals of calls that the partner does not offer. */
function withBody(all: readonly Seen[]): Seen[] {
  return all.filter(
    (seen) =>
      seen.status !== 0 && seen.bytes > 0 && !(seen.purpose.startsWith('the same week by POST') && seen.status >= 400),
  );
}

function firstBad(seen: readonly Seen[], good: (one: Seen) => boolean, say: (one: Seen) => string) {
  const bad = seen.filter((one) => !good(one));
  const [first] = bad;
  if (seen.length === 0) return unseen('There was no response.');
  if (first === undefined) return holds(`${seen.length} answers.`);
  return broken(`${say(first)}${bad.length > 1 ? `, and ${bad.length - 1} more` : ''}.`, first.number);
}
