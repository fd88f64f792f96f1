import type { ErrorEntry } from './entry.ts';

export const documentErrors = {
  'documents.invalid': {
    what: 'Documents of the workspace have mistakes; nothing was applied.',
    next: 'Correct each listed place (file, line, column) and apply again.',
  },
  'documents.case_changed': {
    what: 'The mapping produces other records for a kept sample than expected; nothing was applied.',
    next: 'Compare the records in the mapping studio. Correct the mapping, or confirm the new records: "Apply and accept" in the console, accept_cases in the API, --accept-cases on the command line.',
  },
  'documents.outdated': {
    what: 'The text was made from a version that is no longer in force; nothing was applied.',
    next: 'Read the version in force, make your change in it, and apply again with its number in replaces.',
  },
  'documents.no_workspace': {
    what: 'The folder is not a workspace.',
    next: 'Run innbound init in it, or choose another folder with --workspace.',
  },
  'documents.unknown_name': {
    what: 'No document of that kind has this name.',
    next: 'Choose one of the listed names, or apply the workspace that has the document (`innbound apply`).',
  },
  'documents.secret_missing': {
    what: 'A document refers to a secret that cannot be read: an unset variable, a missing file or an unknown stored secret.',
    next: 'Set the variable, store it with innbound secret set NAME, or write the file into the workspace, /run/secrets or a folder that INNBOUND_SECRET_FOLDERS names.',
  },
  'documents.key_exposed': {
    what: 'The file with the key that seals stored secrets is readable by users other than its owner.',
    next: 'Run chmod 600 on the file. If somebody may have read it, replace the key with innbound key rotate, and the secrets at their partners.',
  },
  'documents.key_malformed': {
    what: 'INNBOUND_KEY, the key file or the output of INNBOUND_KEY_COMMAND is not a key of 32 bytes in hex or base64.',
    next: 'Set it to the key that sealed the stored secrets; for a first start, generate one with innbound key generate.',
  },
  'documents.key_unreadable': {
    what: 'The file in INNBOUND_KEY_FILE does not exist, or the command in INNBOUND_KEY_COMMAND failed.',
    next: 'Check the path, or run the command as the user of the service: it must print the key and end with 0 within 30 seconds.',
  },
  'documents.secret_sealed': {
    what: 'A stored secret cannot be opened: it was sealed with another key, or is damaged.',
    next: 'Restore the key that it was sealed with, or store the secret again with innbound secret set NAME.',
  },
} satisfies Record<string, ErrorEntry>;
