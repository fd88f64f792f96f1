import type { ErrorEntry } from './entry.ts';

export const recordErrors = {
  'record.invalid': {
    stage: 'record',
    retry: 'operator',
    what: 'A record could not become canonical: a field is missing or breaks a rule of the schema.',
    next: 'Read the field and the rule in the dead letter, correct the mapping of the connector, apply it and replay.',
  },
  'record.unknown_status': {
    stage: 'record',
    retry: 'operator',
    what: 'The status has a spelling that neither the schema nor the values of the connector know.',
    next: 'Add the spelling to values.status of the connector (or set unknown_status: other), apply it and replay.',
  },
  'record.not_found': {
    stage: 'record',
    retry: 'final',
    what: 'No reservation with this id is stored for the integration.',
    next: 'Check the id and the integration; if the partner has it, run a sync over its dates.',
  },
} as const satisfies Record<string, ErrorEntry>;
