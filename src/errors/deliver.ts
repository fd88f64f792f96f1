import type { ErrorEntry } from './entry.ts';

export const deliverErrors = {
  'deliver.unreachable': {
    stage: 'deliver',
    retry: 'again',
    what: 'The destination could not be reached: no address, no connection, or the connection was cut.',
    next: 'Nothing at first: it is tried again on its schedule. If it stays, check the address and the network.',
  },
  'deliver.timeout': {
    stage: 'deliver',
    retry: 'again',
    what: 'The destination did not answer in time. It may have taken the change all the same.',
    next: 'Nothing at first: it is tried again with the same idempotency key. If it stays, raise timeout or lower batch.',
  },
  'deliver.server_error': {
    stage: 'deliver',
    retry: 'again',
    what: 'The destination answered with a failure of its own (5xx, 408 or 425).',
    next: 'Nothing at first: it is tried again on its schedule. If it stays, ask whoever runs the destination.',
  },
  'deliver.rate_limited': {
    stage: 'deliver',
    retry: 'again',
    what: 'The destination asked to send more slowly (429).',
    next: 'Nothing: it is tried again after the time it asked for. If it happens often, set rate in the destination.',
  },
  'deliver.refused': {
    stage: 'deliver',
    retry: 'operator',
    what: 'The destination refused the change for good (4xx).',
    next: 'Read the answer in the dead letter, correct the destination or its settings, then replay or drop it.',
  },
  'deliver.auth_failed': {
    stage: 'deliver',
    retry: 'operator',
    what: 'The destination refused our credentials, or none could be had.',
    next: 'Correct the credentials of the destination and apply; what still waits is sent by itself, dead letters are replayed.',
  },
  'deliver.blocked_address': {
    stage: 'deliver',
    retry: 'operator',
    what: 'The destination is at a private, loopback or link-local address, which is not allowed.',
    next: 'Use a public address, or set network.allow_private in innbound.yaml if the address is meant; then replay.',
  },
  'deliver.tries_used_up': {
    stage: 'deliver',
    retry: 'operator',
    what: 'Every try to deliver the change failed; later changes of the same record wait behind it.',
    next: 'Read the last answer in the dead letter, see that the destination works again, then replay (or drop it).',
  },
  'deliver.filter_failed': {
    stage: 'deliver',
    retry: 'operator',
    what: 'The filter of the destination could not be evaluated for this record.',
    next: 'Correct filter in the destination (guard fields that may be absent), apply and replay.',
  },
  'deliver.mapping_failed': {
    stage: 'deliver',
    retry: 'operator',
    what: 'The body mapping of the destination needs a field that this record does not have.',
    next: 'Correct the mapping or add a filter to the destination, apply and replay.',
  },
  'deliver.answer_unreadable': {
    stage: 'deliver',
    retry: 'again',
    what: 'The destination answered a batch with something that does not tell which items it took.',
    next: 'Nothing at first: it is tried again. If it stays, compare the answer with the settings of the destination.',
  },
  'deliver.write_failed': {
    stage: 'deliver',
    retry: 'again',
    what: 'The files of the destination could not be written.',
    next: 'Check that the folder exists, that the disk has room and that the service may write there.',
  },
  'deliver.broken': {
    stage: 'deliver',
    retry: 'again',
    what: 'The destination failed in a way that its code does not foresee.',
    next: 'Report it with the log line; the change is tried again on its schedule.',
  },
  'deliver.not_dead': {
    stage: 'deliver',
    retry: 'final',
    what: 'No open dead letter has this id.',
    next: 'List the open ones with innbound dead-letters list.',
  },
} as const satisfies Record<string, ErrorEntry>;
