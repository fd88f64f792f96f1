import type { ErrorEntry } from './entry.ts';

export const operateErrors = {
  'operate.unexpected': {
    stage: 'operate',
    retry: 'operator',
    what: 'Something failed in a way that Innbound does not know.',
    next: 'Read the log around this moment; if it happens again, report it with the request id or the command.',
  },
  'operate.port_taken': {
    stage: 'operate',
    retry: 'operator',
    what: 'The port that the service is to listen on is taken.',
    next: 'Stop the program that listens there, or choose another port with --port.',
  },
  'operate.usage': {
    stage: 'operate',
    retry: 'operator',
    what: 'The command was called in a way that it does not understand: an unknown option, a malformed value, or options that do not fit together.',
    next: 'Read the command’s --help; it ends with an example.',
  },
  'operate.no_route': {
    stage: 'operate',
    retry: 'final',
    what: 'Nothing is served at this address.',
    next: 'Check method and path; webhooks go to POST /webhooks/{endpoint_id}, the API is under /api/v1.',
  },
  'operate.bad_request': {
    stage: 'operate',
    retry: 'final',
    what: 'The request cannot be read.',
    next: 'Correct the request; its status says in which way it is wrong.',
  },
  'operate.unauthorized': {
    stage: 'operate',
    retry: 'final',
    what: 'The request shows no token that is valid.',
    next: 'Make a token with innbound token create, or sign in again.',
  },
  'operate.forbidden': {
    stage: 'operate',
    retry: 'final',
    what: 'The token does not allow this.',
    next: 'Use a token with the role and the integrations that are named.',
  },
  'operate.not_found': {
    stage: 'operate',
    retry: 'final',
    what: 'There is no such thing, or the token may not see it.',
    next: 'Check the name or id, and which integrations the token is limited to.',
  },
  'operate.invalid_input': {
    stage: 'operate',
    retry: 'final',
    what: 'The request does not have the form that the API describes.',
    next: 'Correct the places that are named; /api/v1/openapi.json describes every request.',
  },
  'operate.too_costly': {
    stage: 'operate',
    retry: 'final',
    what: 'The text takes too long, or too much memory, to check or to map.',
    next: 'Send a smaller sample or a smaller document, or simplify its mapping and its rules.',
  },
  'operate.busy': {
    stage: 'operate',
    retry: 'sender',
    what: 'Too many texts are waiting to be checked or mapped.',
    next: 'Try again in a few seconds.',
  },
  'operate.conflict': {
    stage: 'operate',
    retry: 'operator',
    what: 'This cannot be done in the present state.',
    next: 'Look at the present state, which the answer names, and decide anew.',
  },
  'operate.too_many_failures': {
    stage: 'operate',
    retry: 'sender',
    what: 'This address has sent too many wrong tokens.',
    next: 'Wait as Retry-After says, and correct the token.',
  },
  'operate.alert_unsent': {
    stage: 'operate',
    retry: 'again',
    what: 'The address for alerts did not take one.',
    next: 'Check alerts.webhook in innbound.yaml; it is tried again every half minute.',
  },
  'operate.clock_off': {
    stage: 'operate',
    retry: 'operator',
    what: 'The clock of a node differs from the database’s by more than 5 seconds. Order and leases follow the database, so no data is at risk.',
    next: 'Synchronize the clocks of the node and of the database server (NTP).',
  },
} as const satisfies Record<string, ErrorEntry>;
