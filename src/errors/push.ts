import type { ErrorEntry } from './entry.ts';

export const pushErrors = {
  'push.not_utf8': {
    retry: 'sender',
    what: 'The body of an event is not UTF-8.',
    next: 'Ask the sender to encode its JSON as UTF-8, without a byte order mark.',
  },
  'push.not_xml': {
    retry: 'sender',
    what: 'The body of an event is not well-formed XML, or has a document type or entities of its own.',
    next: 'Ask the sender to check its XML; the line and column of the fault are in the answer.',
  },
  'push.not_json': {
    retry: 'sender',
    what: 'The body of an event is not JSON.',
    next: 'Ask the sender to check its body with a JSON parser; the position of the first mistake is in the answer.',
  },
  'push.unsafe_json': {
    retry: 'sender',
    what: 'The body of an event is JSON that two programs may read differently: repeated or prototype keys, text that is not Unicode, numbers out of range, or nesting and lists beyond the limits.',
    next: 'Ask the sender to avoid what the answer names.',
  },
  'push.unauthorized': {
    retry: 'sender',
    what: 'The signature or timestamp of a request is missing, malformed, wrong or outside the time window.',
    next: 'Ask the sender to post the same request to its sandbox endpoint: the report says what is wrong. The reason is also in the list of rejections.',
  },
  'push.deliberate_failure': {
    retry: 'sender',
    what: 'An event was refused on purpose, because the partner started the test of its retries on the onboarding page.',
    next: 'Nothing. The sender repeats the event after growing delays; the onboarding page shows whether it does.',
  },
  'push.unknown_endpoint': {
    retry: 'sender',
    what: 'No endpoint has this id.',
    next: 'Compare the URL with the one that innbound endpoint NAME shows.',
  },
  'push.retired_endpoint': {
    retry: 'final',
    what: 'The endpoint was retired, or push is switched off for its integration.',
    next: 'Ask the sender to use the URL that innbound endpoint NAME shows now.',
  },
  'push.wrong_method': {
    retry: 'sender',
    what: 'A webhook request used a method other than POST.',
    next: 'Ask the sender to use POST.',
  },
  'push.too_large': {
    retry: 'sender',
    what: 'The body of an event exceeds the size limit.',
    next: 'Ask the sender to send one reservation per event, or raise limits.webhook_body in innbound.yaml.',
  },
  'push.wrong_media_type': {
    retry: 'sender',
    what: 'The body is not declared as application/json in UTF-8, or it is compressed.',
    next: 'Ask the sender to set Content-Type: application/json and send the body as it is.',
  },
  'push.bad_envelope': {
    retry: 'sender',
    what: 'The envelope of an event lacks a field or has an invalid one.',
    next: 'Ask the sender to correct the fields that the pointers in the answer name.',
  },
  'push.rate_limited': {
    retry: 'sender',
    what: 'Requests exceed the rate limit of the endpoint, or too many requests from one address failed.',
    next: 'The sender retries after Retry-After. Raise push.rate of the integration if this is its normal load.',
  },
  'push.unavailable': {
    retry: 'sender',
    what: 'The event could not be stored: the store did not answer in time, or the service is stopping.',
    next: 'The sender retries after Retry-After. If it persists, check PostgreSQL.',
  },
  'push.bad_request': {
    retry: 'sender',
    what: 'The request is not valid HTTP, or it was sent too slowly.',
    next: 'Ask the sender to use an HTTP client library and to send each request without pauses.',
  },
  'push.event_id_reused': {
    retry: 'final',
    what: 'An event reused the id of an earlier event with a different body; the earlier one was kept.',
    next: 'Ask the partner to give every event its own id; the lost change arrives with the next event or pull.',
  },
  'push.event_failed': {
    what: 'An accepted event failed repeatedly.',
    next: 'Read the message in the dead letter, correct the cause and replay it.',
  },
  'push.not_hydrated': {
    what: 'The reservation of a thin event could not be fetched from the partner’s API.',
    next: 'Check the credentials and pull.single of the connector, then replay the dead letter.',
  },
  'push.no_reservation_id': {
    what: 'An accepted event contains no reservation id.',
    next: 'Correct push.map.id (or push.thin.id) of the connector, apply it and replay the dead letter.',
  },
  'push.guest_unidentified': {
    what: 'A guest.updated event identifies its guest neither by id, e-mail or phone nor by a known reservation.',
    next: 'Ask the partner to send guest_id, email or phone, or map them in push.map.guests; then replay the dead letter.',
  },
  'push.guest_ambiguous': {
    what: 'A guest.updated event may mean several persons, or a person who may not be the stored one. Nothing was changed.',
    next: 'Assign the event to one of the persons that the dead letter names. Ask the partner to send guest_id, or reservation_id with the full name.',
  },
  'push.stream_taken': {
    retry: 'again',
    what: 'Another program reads the same stream, and the partner allows one (close code 4409).',
    next: 'Stop the other program, or give one of the two its own application key. Nothing is lost: reading resumes from the stored offset.',
  },
  'push.stream_refused': {
    retry: 'again',
    what: 'The partner refuses the subscription, the credentials or the key of a stream; an HTTP status is its answer before the connection opened.',
    next: 'Check stream.key, stream.chain and pull.auth of the integration, stream.path of the connector, and that the partner has approved the application for events.',
  },
  'push.stream_unreachable': {
    retry: 'again',
    what: 'The stream’s server cannot be reached, or it does not accept the connection.',
    next: 'Check pull.base_url, stream.path and the firewall. Close code 1006 says only that no connection was made, or that it broke without a close message. Some servers also close like this for a wrong stream.key. Reading resumes by itself.',
  },
  'push.stream_excess': {
    retry: 'again',
    what: 'A stream’s server exceeded the limits of a connection, or did not read our answers. The next connection is made after five minutes.',
    next: 'Ask the partner why its server sends so much. Reading resumes by itself from the stored offset.',
  },
  'push.no_endpoint': {
    what: 'The integration has no endpoint to show, rotate or retire.',
    next: 'Set push: { enabled: true } in the integration, apply it and run innbound endpoint NAME.',
  },
} satisfies Record<string, ErrorEntry>;
