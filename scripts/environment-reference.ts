/** Writes docs/reference/environment.md; test/docs/environment.test.ts compares it with the variables that the code reads. */
import { writeFileSync } from 'node:fs';

export const environmentFile = new URL('../docs/reference/environment.md', import.meta.url);

interface Variable {
  readonly name: string;
  readonly absent: string;
  readonly meaning: string;
}

export const variables: readonly Variable[] = [
  {
    name: 'DATABASE_URL',
    absent: 'the embedded PostgreSQL in the workspace',
    meaning:
      'The PostgreSQL to use, `postgres://user:password@host/database`. Several hosts (`one,two`) are tried in turn until one accepts writes. The same on every node.',
  },
  {
    name: 'INNBOUND_KEY',
    absent: 'a key file in `.innbound`, created at the first start',
    meaning:
      'The key for stored secrets: 32 bytes, hex or base64 (`innbound key generate`). The same on every node. Without it, stored secrets cannot be read. Several, separated by commas, while the key is rotated.',
  },
  {
    name: 'INNBOUND_KEY_FILE',
    absent: 'as for `INNBOUND_KEY`',
    meaning: 'A file with the key, one key per line, readable by the owner only. `INNBOUND_KEY` takes precedence.',
  },
  {
    name: 'INNBOUND_KEY_COMMAND',
    absent: 'as for `INNBOUND_KEY`',
    meaning:
      'A shell command that prints the key, one key per line: for a key management service. It runs at the start of every process and when the key is rotated. `INNBOUND_KEY` and `INNBOUND_KEY_FILE` take precedence.',
  },
  {
    name: 'INNBOUND_PASSPHRASE',
    absent: '`--passphrase-file` is needed',
    meaning: 'The passphrase that seals keys in the files of `innbound backup` and `innbound brand export`.',
  },
  {
    name: 'INNBOUND_WORKSPACE',
    absent: 'the current folder',
    meaning: 'The workspace folder, for commands without `--workspace`.',
  },
  {
    name: 'INNBOUND_LOG_LEVEL',
    absent: '`log.level` of `innbound.yaml`, else `info`',
    meaning: 'The lowest log level that is written: `debug`, `info`, `warn` or `error`.',
  },
  {
    name: 'INNBOUND_ALLOW_PRIVATE_NETWORK',
    absent: 'private addresses are refused',
    meaning:
      '`1` lets partner and destination URLs lead to private, loopback and link-local addresses, as `network.allow_private` does.',
  },
  {
    name: 'INNBOUND_SECRET_FOLDERS',
    absent: 'the workspace, `/run/secrets`, `/var/run/secrets` and `$CREDENTIALS_DIRECTORY`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
    meaning: 'More folders from which `${file:…}` may read, separated as in `PATH`.',
  },
  {
    name: 'CREDENTIALS_DIRECTORY',
    absent: '',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
    meaning: 'Set by systemd for `LoadCredential=`: a folder from which `${file:…}` may read.',
  },
  {
    name: 'INNBOUND_WEBHOOK_SECRET',
    absent: '',
    meaning:
      'The endpoint’s secret for `innbound partner send` and `partner simulate`, and the secret that `innbound listen` signs with; another name with `--secret-env` (`--push-secret-env` for `partner simulate`).',
  },
  {
    name: 'INNBOUND_TOKEN',
    absent: '',
    meaning: 'A token of the service with the role operator, for `innbound listen`; another name with `--token-env`.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    absent: 'no traces',
    meaning:
      'Turns traces on: where a service sends its spans, by OTLP over HTTP as JSON, `http://collector:4318`. The exporter also reads `OTEL_EXPORTER_OTLP_HEADERS`, `…_TIMEOUT`, `…_COMPRESSION` and `…_CERTIFICATE`.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    absent: 'as for `OTEL_EXPORTER_OTLP_ENDPOINT`',
    meaning: 'The same with the full path, `http://collector:4318/v1/traces`; takes precedence.',
  },
  {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    absent: '`1`: all',
    meaning:
      'The share of new traces that is exported, 0 to 1. A trace that a sender started follows the sender’s decision.',
  },
  { name: 'OTEL_SERVICE_NAME', absent: '`innbound`', meaning: 'The name of the service in traces.' },
  { name: 'OTEL_TRACES_EXPORTER', absent: '', meaning: '`none` turns traces off.' },
  { name: 'OTEL_SDK_DISABLED', absent: '', meaning: '`true` turns traces off.' },
  { name: 'NO_COLOR', absent: 'colours on a terminal', meaning: 'Any value turns colours off.' },
  {
    name: 'NODE_COMPILE_CACHE',
    absent: 'a folder in `node_modules/.cache`',
    meaning: 'Where Node keeps compiled code, which shortens the start.',
  },
];

export function environmentReference(): string {
  const rows = variables.map(({ name, absent, meaning }) => `| \`${name}\` | ${meaning} | ${absent} |`);
  return `${[
    '<!-- Written by scripts/environment-reference.ts; edits are lost. -->',
    '# Environment variables',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
    'All other settings are in [`innbound.yaml`](workspace.md). Documents can refer to any further variable as `${env:NAME}`, except to `INNBOUND_KEY`.',
    ['| variable | meaning | if absent |', '|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

if (import.meta.main) writeFileSync(environmentFile, environmentReference());
