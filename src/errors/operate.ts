import type { ErrorEntry } from './entry.ts';

export const operateErrors = {
  'operate.unexpected': {
    what: 'An unexpected error occurred.',
    next: 'Read the log of that time; if it happens again, report it with the request id or the command.',
  },
  'operate.port_taken': {
    what: 'The port that the service should listen on is in use.',
    next: 'Stop the program that uses it, or choose another port with --port.',
  },
  'operate.usage': {
    what: 'The command line is not valid: an unknown option, a malformed value, or options that exclude each other.',
    next: 'Read the command’s --help; it ends with an example.',
  },
  'operate.no_route': {
    retry: 'final',
    what: 'Nothing is served at this address.',
    next: 'Check method and path; webhooks go to POST /webhooks/{endpoint_id}, the API is under /api/v1.',
  },
  'operate.bad_request': {
    retry: 'final',
    what: 'The request cannot be read.',
    next: 'Correct the request; the status says what is wrong with it.',
  },
  'operate.unauthorized': {
    retry: 'final',
    what: 'The request carries no valid token.',
    next: 'Create a token with innbound token create, or sign in again.',
  },
  'operate.link_ended': {
    retry: 'final',
    what: 'The onboarding link has expired or was revoked.',
    next: 'Create a new one with innbound onboard create.',
  },
  'operate.link_elsewhere': {
    retry: 'final',
    what: 'The onboarding link is already in use in another browser.',
    next: 'Open it in the first browser, or create a link that allows several with innbound onboard create --many-browsers.',
  },
  'operate.not_ready': {
    what: 'The brand cannot go live yet: the partner is not ready, or the checklist has gaps.',
    next: 'Look at the checklist of the link; approve with --anyway if the gaps do not matter for this partner.',
  },
  'operate.sign_in_unavailable': {
    what: 'Sign-in through the identity provider is not configured, or the provider cannot be used.',
    next: 'Sign in with a link from innbound token sign-in, and check sign_in.oidc in innbound.yaml.',
  },
  'operate.forbidden': {
    retry: 'final',
    what: 'The token does not allow this.',
    next: 'Use a token with the role and the integrations that the answer names.',
  },
  'operate.not_found': {
    retry: 'final',
    what: 'It does not exist, or the token may not see it.',
    next: 'Check the name or id, and, if you use a token, which integrations it may see.',
  },
  'operate.invalid_input': {
    retry: 'final',
    what: 'The request does not match the API’s schema.',
    next: 'Correct the fields that the answer names; /api/v1/openapi.json describes every request.',
  },
  'operate.profile_not_editable': {
    retry: 'final',
    what: 'The profiles cannot be merged or split in this way.',
    next: 'Read the message. Look at both profiles (GET /api/v1/integrations/{integration}/guests/{id}) and name others, or other fields.',
  },
  'operate.too_costly': {
    retry: 'final',
    what: 'The text takes too long, or too much memory, to check or to map.',
    next: 'Send a smaller sample or a smaller document, or simplify its mapping and its rules.',
  },
  'operate.step_too_slow': {
    what: 'A step of a job took longer than the database allows a statement to run or to wait for a lock. The step is repeated with half as many records; after twelve halvings the job ends.',
    next: 'Look for long transactions and locks in PostgreSQL (pg_stat_activity), or for a disk that is too slow, then start the job again.',
  },
  'operate.busy': {
    retry: 'sender',
    what: 'Too many requests of this kind are open or waiting: texts to check or map, live streams, readers of the feed.',
    next: 'Try again in a few seconds; close streams and readers that are no longer needed.',
  },
  'operate.cursor_outdated': {
    retry: 'final',
    what: 'The feed cannot continue at the cursor: the store was restored from a backup since, or the changes after it were removed after their retention.',
    next: 'Read the feed from its beginning, without `after`; `epoch` and `version` show which state is newer.',
  },
  'operate.conflict': {
    what: 'The current state does not allow this.',
    next: 'Read the current state in the answer and decide again.',
  },
  'operate.too_many_failures': {
    retry: 'sender',
    what: 'This address sent too many invalid tokens.',
    next: 'Wait for the time in Retry-After, and correct the token.',
  },
  'operate.alert_unsent': {
    retry: 'again',
    what: 'An alert route (alerts.routes or alerts.webhook in innbound.yaml) did not accept an alert.',
    next: 'Try the route with innbound alert test NAME and correct its settings; sending is retried for a day.',
  },
  'operate.move_refused': {
    what: 'A brand cannot move to another system yet (innbound brand move). Nothing was changed.',
    next: 'Do what the message says, and repeat the command.',
  },
  'operate.stalled': {
    retry: 'again',
    what: 'A loop of this node has made no progress for longer than expected, usually because the database does not answer.',
    next: 'Check PostgreSQL and the network. The loop continues by itself. If it does not although the database answers, restart the node.',
  },
  'operate.clock_off': {
    what: 'The clock of a node differs from the database’s by more than 5 seconds. Order and leases follow the database, so no data is at risk.',
    next: 'Synchronize the clocks of the node and of the database server (NTP).',
  },
  'operate.no_worker': {
    what: 'No live node has the role worker: nothing is pulled, processed or delivered. Events are accepted and wait.',
    next: 'Start a node with --role worker or --role all.',
  },
  'operate.no_web': {
    what: 'No live node has the role web, although brands receive webhooks.',
    next: 'Start a node with --role web or --role all.',
  },
  'operate.transfer_refused': {
    what: 'The brand cannot be exported or imported in the current state. Nothing was changed.',
    next: 'Read the message, change what it names in one of the two installations, and run the command again.',
  },
} satisfies Record<string, ErrorEntry>;
