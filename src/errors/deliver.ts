import type { ErrorEntry } from './entry.ts';

export const deliverErrors = {
  'deliver.unreachable': {
    retry: 'again',
    what: 'The destination could not be reached: its name does not resolve, the connection fails or is cut, or the answer exceeds the limit.',
    next: 'It is retried on its schedule. If it persists, check the address and the network.',
  },
  'deliver.lease_expired': {
    retry: 'again',
    what: 'The lease expired because the process was frozen or overloaded. Another node may deliver the record, so nothing was sent.',
    next: 'Nothing: the record is delivered by the node that holds it. If it happens often, look for a machine that is suspended or overloaded.',
  },
  'deliver.timeout': {
    retry: 'again',
    what: 'The destination did not answer in time. It may have accepted the change anyway.',
    next: 'It is retried with the same idempotency key. If it persists, raise timeout or lower batch.',
  },
  'deliver.server_error': {
    retry: 'again',
    what: 'The destination answered with a server error (5xx, 408 or 425).',
    next: 'It is retried on its schedule. If it persists, contact the operator of the destination.',
  },
  'deliver.rate_limited': {
    retry: 'again',
    what: 'The destination asked us to slow down (429).',
    next: 'It is retried after the time that the destination asked for. If it happens often, set rate in the destination.',
  },
  'deliver.refused': {
    what: 'The destination rejected the change permanently (4xx), or the request is not valid HTTP.',
    next: 'Read the answer in the dead letter, correct the destination’s settings, then replay or drop it.',
  },
  'deliver.auth_failed': {
    retry: 'again',
    what: 'The destination refused our credentials, or they could not be read.',
    next: 'Replace the stored secret or the file; it is used within seconds. Or correct the document and apply it. Changes wait without using tries, and are then sent.',
  },
  'deliver.blocked_address': {
    what: 'The destination has a private, loopback or link-local address, which is not allowed.',
    next: 'Use a public address, or set network.allow_private in innbound.yaml; then replay.',
  },
  'deliver.tries_used_up': {
    what: 'Every attempt to deliver the change failed; later changes of the same record wait behind it.',
    next: 'Read the last answer in the dead letter, check that the destination works again, then replay or drop it.',
  },
  'deliver.filter_failed': {
    what: 'The filter of the destination could not be evaluated for this record.',
    next: 'Correct filter in the destination (guard fields that may be absent), apply and replay.',
  },
  'deliver.mapping_failed': {
    what: 'The body mapping of the destination needs a field that this record does not have.',
    next: 'Correct the mapping or add a filter to the destination, apply and replay.',
  },
  'deliver.not_expressed': {
    what: 'The requests of the destination cannot express an erasure, a withdrawal of consent or the removal of a record, so it was not sent.',
    next: 'Add on.erased, on.withdrawn or on.removed to the destination, apply and replay; or do it there by hand and drop the dead letter.',
  },
  'deliver.web_page': {
    retry: 'again',
    what: 'The destination answered success with a web page instead of the answer of an API, such as a maintenance or sign-in page.',
    next: 'It is retried. If it persists, check the url of the destination and any proxy in front of it.',
  },
  'deliver.answer_unreadable': {
    retry: 'again',
    what: 'The answer to a batch does not say which items the destination accepted.',
    next: 'It is retried. If it persists, compare the answer with the settings of the destination.',
  },
  'deliver.write_failed': {
    retry: 'again',
    what: 'The files of the destination could not be written.',
    next: 'Check that the folder exists, that the disk has space and that the service may write there.',
  },
  'deliver.warehouse_mismatch': {
    what: 'The warehouse lacks a database, table, column, key or permission that Innbound needs, a column has the wrong type, or an added column requires a value.',
    next: 'Changes wait without using tries. Restore what the message names, or give the added column a default. A table that was dropped, or the whole schema, is created again; then run innbound resend to fill it.',
  },
  'deliver.bus_mismatch': {
    what: 'The bus does not have the topic, queue, stream, exchange or binding that the destination names.',
    next: 'Changes wait without using tries. Create what the message names; innbound destination prepare shows what is missing.',
  },
  'deliver.too_large': {
    what: 'The message exceeds the size limit of the bus.',
    next: 'Send fewer fields (fields, drop), or raise the limit of the bus and max_message of the destination; then replay or drop it.',
  },
  'deliver.broken': {
    retry: 'again',
    what: 'The destination failed with an unexpected error.',
    next: 'Report it with the log line; the change is retried on its schedule.',
  },
  'deliver.not_dead': {
    retry: 'final',
    what: 'No open dead letter has this id.',
    next: 'List the open ones with innbound dead-letters list.',
  },
} satisfies Record<string, ErrorEntry>;
