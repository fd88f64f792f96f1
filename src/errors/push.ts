import type { ErrorEntry } from './entry.ts';

export const pushErrors = {
  'push.not_utf8': {
    stage: 'push',
    retry: 'sender',
    what: 'The body of an event is not UTF-8.',
    next: 'Let the sender encode its JSON as UTF-8, without a byte order mark.',
  },
  'push.not_json': {
    stage: 'push',
    retry: 'sender',
    what: 'The body of an event is not JSON.',
    next: 'Let the sender check its body with a JSON parser; the position of the first mistake is in the answer.',
  },
  'push.unsafe_json': {
    stage: 'push',
    retry: 'sender',
    what: 'The body of an event is JSON that two programs may read differently: repeated or prototype keys, text that is no Unicode, numbers out of range, or nesting and lists past the limits.',
    next: 'Let the sender avoid what the answer names.',
  },
  'push.unauthorized': {
    stage: 'push',
    retry: 'sender',
    what: 'The signature or the timestamp of a request is missing, malformed, wrong or out of its window.',
    next: 'Let the sender post the same request to its sandbox endpoint: the report says what is wrong with it. The reason is also in the list of rejections.',
  },
  'push.unknown_endpoint': {
    stage: 'push',
    retry: 'sender',
    what: 'No endpoint has this id.',
    next: 'Compare the URL with the one that innbound endpoint NAME shows.',
  },
  'push.retired_endpoint': {
    stage: 'push',
    retry: 'final',
    what: 'The endpoint was retired, or push is switched off for its integration.',
    next: 'Let the sender use the URL that innbound endpoint NAME shows now.',
  },
  'push.wrong_method': {
    stage: 'push',
    retry: 'sender',
    what: 'Events are sent by POST.',
    next: 'Let the sender use POST.',
  },
  'push.too_large': {
    stage: 'push',
    retry: 'sender',
    what: 'The body of an event is over the limit.',
    next: 'Let the sender send one reservation per event, or raise limits.webhook_body in innbound.yaml.',
  },
  'push.wrong_media_type': {
    stage: 'push',
    retry: 'sender',
    what: 'The body is not declared as application/json in UTF-8, or it is compressed.',
    next: 'Let the sender set Content-Type: application/json and send the body as it is.',
  },
  'push.bad_envelope': {
    stage: 'push',
    retry: 'sender',
    what: 'The envelope of an event misses a field or has a wrong one.',
    next: 'Let the sender correct the fields that the pointers in the answer name.',
  },
  'push.rate_limited': {
    stage: 'push',
    retry: 'sender',
    what: 'More requests came than the endpoint takes, or too many failed from one address.',
    next: 'The sender tries again after Retry-After. Raise push.rate of the integration if this is its normal load.',
  },
  'push.unavailable': {
    stage: 'push',
    retry: 'sender',
    what: 'The event could not be stored: the store did not answer in time, or the service is stopping.',
    next: 'The sender tries again after Retry-After; look at the state of PostgreSQL if it lasts.',
  },
  'push.bad_request': {
    stage: 'push',
    retry: 'sender',
    what: 'The request is not valid HTTP, or it came too slowly.',
    next: 'Let the sender use an HTTP client library and send each request in one go.',
  },
  'push.event_id_reused': {
    stage: 'push',
    retry: 'final',
    what: 'An event came with the id of an earlier one and another body; the first was kept.',
    next: 'Ask the partner to give every event an id of its own; the later change arrives with the next event or pull.',
  },
  'push.event_failed': {
    stage: 'push',
    retry: 'operator',
    what: 'An accepted event could not be worked on, again and again.',
    next: 'Read the message in the dead letter, correct the cause and replay it.',
  },
  'push.not_hydrated': {
    stage: 'push',
    retry: 'operator',
    what: 'An event that only names a reservation could not be completed from the partner’s API.',
    next: 'Check the credentials and pull.single of the connector, then replay the dead letter.',
  },
  'push.no_reservation_id': {
    stage: 'push',
    retry: 'operator',
    what: 'An accepted event does not say which reservation it is about.',
    next: 'Correct push.map.id (or push.thin.id) of the connector, apply it and replay the dead letter.',
  },
  'push.guest_unidentified': {
    stage: 'push',
    retry: 'operator',
    what: 'A guest.updated event names its guest neither by id nor by e-mail, phone or reservation.',
    next: 'Ask the partner to send guest_id, email or phone, or map them in push.map.guests; then replay the dead letter.',
  },
  'push.no_endpoint': {
    stage: 'push',
    retry: 'operator',
    what: 'The integration has no endpoint to show, rotate or retire.',
    next: 'Set push: { enabled: true } in the integration, apply it and run innbound endpoint NAME.',
  },
} as const satisfies Record<string, ErrorEntry>;
