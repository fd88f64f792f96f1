import type { ErrorEntry } from './entry.ts';

export const operateErrors = {
  'operate.unexpected': {
    stage: 'operate',
    retry: 'operator',
    what: 'An unexpected error occurred.',
    next: 'Read the log of that time; if it happens again, report it with the request id or the command.',
  },
  'operate.port_taken': {
    stage: 'operate',
    retry: 'operator',
    what: 'The port that the service should listen on is in use.',
    next: 'Stop the program that uses it, or choose another port with --port.',
  },
  'operate.process_failed': {
    stage: 'operate',
    retry: 'operator',
    what: 'One of the processes of the service (serve --processes) ended before it was ready, and could not say why.',
    next: 'Read the lines above this one. A process that the system ended (SIGKILL) usually had too little memory: use fewer processes.',
  },
  'operate.usage': {
    stage: 'operate',
    retry: 'operator',
    what: 'The command line is not valid: an unknown option, a malformed value, or options that exclude each other.',
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
    next: 'Correct the request; the status says what is wrong with it.',
  },
  'operate.unauthorized': {
    stage: 'operate',
    retry: 'final',
    what: 'The request carries no valid token.',
    next: 'Create a token with innbound token create, or sign in again.',
  },
  'operate.sign_in_unavailable': {
    stage: 'operate',
    retry: 'operator',
    what: 'Sign-in through the identity provider is not configured, or the provider cannot be used.',
    next: 'Sign in with a link from innbound token sign-in, and check sign_in.oidc in innbound.yaml.',
  },
  'operate.forbidden': {
    stage: 'operate',
    retry: 'final',
    what: 'The token does not allow this.',
    next: 'Use a token with the role and the integrations that the answer names.',
  },
  'operate.not_found': {
    stage: 'operate',
    retry: 'final',
    what: 'It does not exist, or the token may not see it.',
    next: 'Check the name or id, and which integrations the token is limited to.',
  },
  'operate.invalid_input': {
    stage: 'operate',
    retry: 'final',
    what: 'The request does not match the API’s schema.',
    next: 'Correct the fields that the answer names; /api/v1/openapi.json describes every request.',
  },
  'operate.profile_not_editable': {
    stage: 'operate',
    retry: 'final',
    what: 'The profiles cannot be merged or split in this way.',
    next: 'Read the message. Look at both profiles (GET /api/v1/integrations/{integration}/guests/{id}) and name others, or other fields.',
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
    what: 'Too many requests of this kind are open or waiting: texts to check or map, live streams, readers of the feed.',
    next: 'Try again in a few seconds; close streams and readers that are no longer needed.',
  },
  'operate.cursor_outdated': {
    stage: 'operate',
    retry: 'final',
    what: 'The feed cannot continue at the cursor: the store was restored from a backup since, or the changes after it were removed after their retention.',
    next: 'Read the feed from its beginning, without `after`; `epoch` and `version` show which state is newer.',
  },
  'operate.conflict': {
    stage: 'operate',
    retry: 'operator',
    what: 'The current state does not allow this.',
    next: 'Read the current state in the answer and decide again.',
  },
  'operate.too_many_failures': {
    stage: 'operate',
    retry: 'sender',
    what: 'This address sent too many invalid tokens.',
    next: 'Wait for the time in Retry-After, and correct the token.',
  },
  'operate.alert_unsent': {
    stage: 'operate',
    retry: 'again',
    what: 'An alert route (alerts.routes or alerts.webhook in innbound.yaml) did not accept an alert.',
    next: 'Try the route with innbound alert test NAME and correct its settings; sending is retried for a day.',
  },
  'operate.stalled': {
    stage: 'operate',
    retry: 'again',
    what: 'A loop of this node has made no progress for longer than it should need, usually because the database does not answer.',
    next: 'Check PostgreSQL and the network. The loop continues by itself; restart the node if it does not although the database answers.',
  },
  'operate.clock_off': {
    stage: 'operate',
    retry: 'operator',
    what: 'The clock of a node differs from the database’s by more than 5 seconds. Order and leases follow the database, so no data is at risk.',
    next: 'Synchronize the clocks of the node and of the database server (NTP).',
  },
} as const satisfies Record<string, ErrorEntry>;
