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
  'documents.key_exposed': {
    stage: 'documents',
    retry: 'operator',
    what: 'The file with the key that seals stored secrets may be read by others than its owner.',
    next: 'Run chmod 600 on the file that is named; if others could have read it, store the secrets anew under a new key.',
  },
  'documents.key_malformed': {
    stage: 'documents',
    retry: 'operator',
    what: 'INNBOUND_KEY or the key file is no key of 32 bytes in hex or base64.',
    next: 'Set it to the key that sealed the stored secrets; for a first start, make one with openssl rand -base64 32.',
  },
  'documents.secret_sealed': {
    stage: 'documents',
    retry: 'operator',
    what: 'A stored secret cannot be opened: it was sealed with another key, or is damaged.',
    next: 'Bring back the key it was sealed with, or store the secret again with innbound secret set NAME.',
  },
} as const satisfies Record<string, ErrorEntry>;
