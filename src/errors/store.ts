import type { ErrorEntry } from './entry.ts';

export const storeErrors = {
  'store.unreachable': {
    retry: 'again',
    what: 'PostgreSQL did not answer.',
    next: 'Check DATABASE_URL and the server; the service continues by itself once it answers.',
  },
  'store.read_only': {
    retry: 'again',
    what: 'PostgreSQL answers but accepts no writes: it is a standby, or was demoted.',
    next: 'Name every host of the cluster in DATABASE_URL; the service finds the primary and continues by itself.',
  },
  'store.transaction_pooling': {
    what: 'The database is behind a pooler in transaction mode.',
    next: 'Set pool_mode = session for this database in pgbouncer, or name the PostgreSQL server itself in DATABASE_URL.',
  },
  'store.workspace_held': {
    what: 'Another service runs on this workspace.',
    next: 'Stop the process in the message, use another workspace, or run several nodes with one PostgreSQL in DATABASE_URL.',
  },
  'store.postgres_failed': {
    what: 'The private PostgreSQL could not be started.',
    next: 'Read the log file in the message; set DATABASE_URL to use your own PostgreSQL.',
  },
  'store.newer_schema': {
    what: 'The database was migrated by a newer Innbound than this one.',
    next: 'Run the newer version: migrations only go forward.',
  },
  'store.older_schema': {
    what: 'The database is older than 0.2.0, the first release: a development version created it. It cannot be upgraded.',
    next: 'Give this version an empty database and pull again; or run the version that created it.',
  },
  'store.restored': {
    what: 'The database is an older copy than the one this workspace last used. The epoch was raised, so that destinations accept its versions.',
    next: 'Repeat the erasures that were made after the copy, then run `innbound resend` for each destination to send the current state.',
  },
  'store.changed_migration': {
    what: 'The database was created by a version whose migrations differ from this one’s.',
    next: 'Run the version that created it; a development database can be dropped and created again.',
  },
  'store.other_key': {
    what: 'The secrets in this database were sealed with a key that this node does not have.',
    next: 'Give this node the key that the message names: the INNBOUND_KEY of the other nodes, or the key file of the first workspace (.innbound/key).',
  },
  'store.key_not_distributed': {
    what: 'The key cannot be rotated: a running node does not have the new key yet. Nothing was sealed with it.',
    next: 'Give the named nodes the new key beside the old one (NEW,OLD; a restart for INNBOUND_KEY), then run innbound key rotate again.',
  },
  'store.no_new_key': {
    what: 'The key comes from a place that Innbound does not write to, and no second key is configured.',
    next: 'Make a key with innbound key generate, put it before the old one (NEW,OLD) on every node, then run innbound key rotate again.',
  },
  'store.backup_unreadable': {
    what: 'The file is not one that innbound backup or innbound brand export made, or contains something that these commands do not write.',
    next: 'Name the right file, or make it again with the version that the header of the file names; nothing was changed.',
  },
  'store.backup_altered': {
    what: 'The file is incomplete or was changed since innbound backup or innbound brand export made it: its seal, a keyed hash over the whole file, does not match.',
    next: 'Copy it again from where it was kept, and find out who could write to the copy; nothing was changed.',
  },
  'store.backup_version': {
    what: 'The file was made by a version of Innbound whose tables differ from those of this version.',
    next: 'Run this command with the version that the message names, then upgrade.',
  },
  'store.passphrase': {
    what: 'Keys are sealed with a passphrase, and it is missing or wrong.',
    next: 'Give it with --passphrase-file FILE, or in INNBOUND_PASSPHRASE. For a backup without the key use --without-key.',
  },
  'store.not_empty': {
    what: 'The database that a backup would be restored into already holds data.',
    next: 'Restore into an empty database or a new workspace folder, or replace all data here with innbound restore FILE --replace.',
  },
  'store.nodes_running': {
    what: 'Rows cannot be replaced or imported while nodes run on the database.',
    next: 'Stop every node, then run the command again. A node that was killed is forgotten after a minute.',
  },
} satisfies Record<string, ErrorEntry>;
