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
    what: 'The command was given options that do not fit together.',
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
} as const satisfies Record<string, ErrorEntry>;
