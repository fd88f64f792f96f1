import type { ErrorEntry } from './entry.ts';

export const pullErrors = {
  'pull.bad_request': {
    what: 'The partner answered 400, or the request is not valid HTTP (such as a line break in a header).',
    next: 'Read the message in the run; correct the connector’s request, query, headers or body, then sync again.',
  },
  'pull.not_found': {
    what: 'The partner answered 404 or 410: the path does not exist there.',
    next: 'Check base_url of the integration and path of the connector.',
  },
  'pull.forbidden': {
    what: 'The partner answered 403: the credentials are known but not allowed to read this.',
    next: 'Ask the partner to give these credentials access to the property’s reservations.',
  },
  'pull.refused': {
    what: 'The partner refused the request with a 4xx status.',
    next: 'Read status and message in the run; correct the connector or ask the partner.',
  },
  'pull.unexpected_status': {
    what: 'The partner answered with a status that is neither success nor error.',
    next: 'Check base_url and path: such an answer usually comes from something in front of the API.',
  },
  'pull.redirect': {
    what: 'The partner answered with a redirect. It is not followed, because it would send the credentials along.',
    next: 'Put the final address into base_url or path.',
  },
  'pull.auth_failed': {
    what: 'The partner refused the credentials, and renewed ones too where they can be renewed. Pulling from it is paused.',
    next: 'Correct the credentials. Then resume the brand in the console, apply the corrected integration, or run innbound sync once; success ends the pause.',
  },
  'pull.consent_needed': {
    what: 'The brand has not authorized access yet, or has withdrawn it, or it has expired.',
    next: 'Open the authorization link (innbound consent NAME) and sign in at the partner.',
  },
  'pull.consent_refused': {
    what: 'The authorization was declined, its link has expired, or the answer does not belong to a link issued here.',
    next: 'Issue a new authorization link (innbound consent NAME) and complete it within 30 minutes.',
  },
  'pull.token_failed': {
    retry: 'again',
    what: 'The partner’s token address returned no usable token.',
    next: 'It is retried. If it persists, check token_url, client id, secret and scopes.',
  },
  'pull.rate_limited': {
    retry: 'again',
    what: 'The partner kept answering 429 after every wait.',
    next: 'The next run retries. Lower pull.rate, or ask the partner for a higher limit.',
  },
  'pull.server_error': {
    retry: 'again',
    what: 'The partner answered with 5xx five times in a row.',
    next: 'The next run retries; contact the partner if it persists.',
  },
  'pull.unreachable': {
    retry: 'again',
    what: 'The partner could not be reached, or closed the connection early, five times in a row.',
    next: 'The next run retries; check base_url, name resolution and the network.',
  },
  'pull.timeout': {
    retry: 'again',
    what: 'The partner did not finish in time, even for a single day.',
    next: 'The next run retries; raise pull.timeouts, lower page_size, or ask the partner.',
  },
  'pull.too_large': {
    what: 'The answer for a single day exceeds limits.response_body.',
    next: 'Lower page_size, or raise limits.response_body in innbound.yaml.',
  },
  'pull.tls': {
    what: 'The partner’s certificate is not valid for this address.',
    next: 'Check base_url; if the partner has its own certificate authority, name it in network.ca.',
  },
  'pull.blocked_address': {
    what: 'The address is private, loopback or link-local, or not a plain http(s) URL; nothing was sent.',
    next: 'Correct the URL, or allow it with network.allow_private in innbound.yaml.',
  },
  'pull.breaker_open': {
    retry: 'again',
    what: 'The partner’s API failed five times in a row; requests wait.',
    next: 'One request probes it after the cooldown; scheduled runs then continue by themselves.',
  },
  'pull.not_json': {
    what: 'The partner’s answer is not JSON.',
    next: 'Check base_url and path; a web page instead of JSON is often a sign-in or maintenance page.',
  },
  'pull.not_utf8': {
    what: 'The partner’s answer is not UTF-8.',
    next: 'Ask the partner for UTF-8, or name an adapter in the connector that converts it.',
  },
  'pull.xml': {
    what: 'The partner’s answer is XML and the connector does not say so, or it cannot be read as XML.',
    next: 'Write adapter: xml in pull of the connector (docs/guides/adapters.md). If it is there, the message names the line and column of the fault.',
  },
  'pull.adapter_failed': {
    what: 'The connector’s adapter could not be loaded, or could not read the answer.',
    next: 'Read the adapter’s message in the run and correct the adapter.',
  },
  'pull.too_deep': {
    what: 'The answer’s JSON is nested deeper, or has a longer list, than allowed.',
    next: 'Lower page_size, or raise limits.json_depth or limits.array_length in innbound.yaml.',
  },
  'pull.wrong_shape': {
    what: 'The answer is JSON, but the list of reservations is not where the connector says, or the answer for one reservation contains a different one.',
    next: 'Compare the answer with shape.root_path of the connector (innbound map helps). pull.single must return the reservation with the requested id and no other.',
  },
  'pull.error_in_answer': {
    retry: 'again',
    what: 'The partner answered with a success status, but the body reports an error.',
    next: 'Read the partner’s own words (--partner-text of innbound sync and innbound runs). If it is not an error, or means something else, declare it in pull.errors of the connector.',
  },
  'pull.cursor_repeated': {
    what: 'The partner returned a cursor or next link a second time: its pages loop.',
    next: 'Report it to the partner. What was read is stored; the run is incomplete.',
  },
  'pull.cursor_invalid': {
    what: 'The value at pagination.next cannot be a cursor.',
    next: 'Check pagination.next of the connector.',
  },
  'pull.next_not_found': {
    what: 'The list has another page, but the connector’s paging does not find it.',
    next: 'Compare pull.pagination of the connector with an answer of the partner: pagination.next must be the path of the next cursor or address. Only first pages were read.',
  },
  'pull.link_foreign': {
    what: 'The next link points to another host. It is not followed, because it would send the credentials along.',
    next: 'Ask the partner, or put the other host into base_url.',
  },
  'pull.page_repeated': {
    what: 'The partner sent the same page repeatedly.',
    next: 'Check where the connector sends offset, page or cursor: the partner may ignore them. For a partner that does not page, write pagination: { type: none }. The run is incomplete.',
  },
  'pull.other_brand': {
    what: 'A new brand received the bookings of another brand of the same account. Nothing was stored.',
    next: 'Check that the request names the brand ({brand_id}, or pull.query of the integration), and that the credentials are the brand’s own. For one list of several properties, use pull.property and pulled_by.',
  },
  'pull.endless': {
    what: 'The list did not end within the page limit of a window.',
    next: 'Check that the partner honours the dates; raise page_size or shorten window.step.',
  },
  'pull.group_cut': {
    retry: 'again',
    what: 'A reservation made of several rows arrived with fewer rooms than stored. Its other rows may lie outside the requested dates, so nothing was changed or delivered.',
    next: 'Add pull.single to the connector, so that such a reservation is requested as a whole; or set shape.flat.whole: true if the list always shows all rows of a reservation.',
  },
  'pull.total_not_reached': {
    retry: 'again',
    what: 'The partner sent fewer reservations than its own total.',
    next: 'The next run retries. If the total counts something else, set pagination.total to another path.',
  },
  'pull.list_unstable': {
    retry: 'again',
    what: 'The list changed during every pass, so nothing proves that it was read completely.',
    next: 'The next run retries; a smaller window.step or a larger page_size makes passes shorter.',
  },
  'pull.not_acknowledged': {
    retry: 'again',
    what: 'A page was stored, but the call that acknowledges it failed.',
    next: 'Nothing is lost: the partner lists the reservations again. Check pull.acknowledge of the connector if it persists.',
  },
  'pull.no_such_sync': {
    what: 'The integration has no pull section or no sync of this type, or its connector describes no list of reservations.',
    next: 'Add the pull section or the sync to the integration; innbound sync also takes a range: --from and --to. For a partner with a list, add pull.request to the connector; without one, events are the only source.',
  },
  'pull.interrupted': {
    retry: 'again',
    what: 'The sync was interrupted. What it read is stored, and the run resumes after its last page.',
    next: 'A running service resumes it by itself; without one, the next innbound sync of the same type does.',
  },
  'pull.bad_range': {
    what: 'The range is not two dates in order.',
    next: 'Give --from and --to as YYYY-MM-DD.',
  },
  'pull.no_single': {
    what: 'The connector has no request for a single reservation.',
    next: 'Add pull.single to the connector.',
  },
} satisfies Record<string, ErrorEntry>;
