import type { ErrorEntry } from './entry.ts';

export const documentErrors = {
  'documents.invalid': {
    stage: 'documents',
    retry: 'operator',
    what: 'The workspace holds documents with mistakes; nothing was applied.',
    next: 'Correct each place that is listed (file, line, column) and apply again.',
  },
  'documents.no_workspace': {
    stage: 'documents',
    retry: 'operator',
    what: 'The folder is not a workspace.',
    next: 'Run innbound init in it, or name another folder with --workspace.',
  },
  'documents.unknown_name': {
    stage: 'documents',
    retry: 'operator',
    what: 'No document of that kind has this name.',
    next: 'Pick one of the names that are listed, or apply the workspace that holds it.',
  },
  'documents.secret_missing': {
    stage: 'documents',
    retry: 'operator',
    what: 'A document refers to a secret that cannot be read: an unset variable, a missing file or an unknown stored secret.',
    next: 'Set the variable, write the file, or store it with innbound secret set NAME.',
  },
} as const satisfies Record<string, ErrorEntry>;
