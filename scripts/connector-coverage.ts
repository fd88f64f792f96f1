import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { entriesOf, type Table } from '../src/core/canonical/fields.ts';

/**
 * Writes docs/reference/connectors.md, and connectors/systems.json, by which people find their system, from the shipped connectors, their
 * pages and their cases; test/docs/site-pages.test.ts says when to run it.
 */
export const connectorsFile = new URL('../docs/reference/connectors.md', import.meta.url);
export const systemsFile = new URL('../connectors/systems.json', import.meta.url);

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

type Row = Readonly<Record<string, unknown>>;

interface Document {
  readonly title: string;
  readonly description: string;
  readonly system?: {
    readonly vendor: string;
    readonly market: string;
    readonly aliases?: string[];
    readonly basis: Basis;
  };
  readonly pull?: {
    readonly request?: unknown;
    readonly requests?: unknown;
    readonly single?: unknown;
    readonly acknowledge?: unknown;
  };
  readonly push?: unknown;
  readonly stream?: unknown;
}

type Basis = 'live' | 'vendor' | 'clients';

const bases: Readonly<Record<Basis, string>> = {
  live: 'tested against a live property',
  vendor: 'the vendor’s documentation',
  clients: 'public clients of the API',
};

function connectorOf(name: string) {
  const document = parse(read(`connectors/${name}/connector.yaml`), { merge: true }) as Document;
  const { pull, push, stream, system } = document;
  const page = read(`connectors/${name}/README.md`);
  const cases = globSync(`connectors/${name}/cases/*.json`, { cwd: root.pathname }).sort();
  const shown = new Set(
    cases.flatMap((file) => (JSON.parse(read(file)) as { records: Row[] }).records.flatMap(fieldsOf)),
  );
  const integration = /```yaml\n(integration:[\s\S]*?)```/.exec(page)?.[1];
  const auth = (parse(integration ?? '') as { pull?: { auth?: { type?: string } } } | null)?.pull?.auth?.type;
  return {
    name,
    title: document.title,
    description: document.description,
    ...(system && { ...system, aliases: system.aliases ?? [] }),
    auth,
    /** What a list is asked by. */
    list: pull && listOf(pull),
    single: pull?.single !== undefined,
    events: stream ? 'stream' : push ? 'webhooks' : undefined,
    /** Fields that a case shows, as table.field. */
    fields: (['reservation', 'guests', 'rooms', 'charges'] as Table[]).flatMap((table) =>
      mapped(table)
        .map(([field]) => `${table}.${field}`)
        .filter((field) => shown.has(field)),
    ),
    cases: cases.length,
    integration,
    credentials: [...(/## Credentials\n\n((?:- .*\n)+)/.exec(page)?.[1] ?? '').matchAll(/^- (.*)$/gm)].map(
      ([, line]) => line ?? '',
    ),
  };
}

function listOf({ request, requests, acknowledge }: NonNullable<Document['pull']>): string | undefined {
  if (request === undefined) return undefined;
  if (acknowledge !== undefined) return 'queue';
  return JSON.stringify([request, requests]).includes('{since') ? 'changes' : 'stays';
}

/** Without the fields that later steps set. */
const mapped = (table: Table) => entriesOf(table).filter(([, { derived }]) => !derived);

function fieldsOf(record: Row): string[] {
  return Object.entries(record).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.flatMap((item: Row) => Object.keys(item).map((field) => `${name}.${field}`))
      : [`reservation.${name}`],
  );
}

const connectors = () =>
  globSync('connectors/*/connector.yaml', { cwd: root.pathname })
    .map((file) => file.split('/')[1] ?? '')
    .sort()
    .map(connectorOf);

type Connector = ReturnType<typeof connectorOf>;

const isSystem = ({ basis }: Connector) => basis !== undefined;

export const systemsText = (): string => `${JSON.stringify(connectors().filter(isSystem), null, 1)}\n`;

export function connectorsText(): string {
  const all = connectors();
  const systems = all.filter(isSystem);
  const link = ({ name, title }: Connector) => `[${title}](../../connectors/${name}/README.md)`;
  const systemRows = systems.map((one) => {
    const { vendor, aliases, market, auth, list, single, events, basis = 'clients', cases } = one;
    const names = [vendor, ...(aliases ?? [])].join('; ');
    return `| ${link(one)} | ${names} | ${market} | ${auth ?? ''} | ${[list, single && 'single', events].filter(Boolean).join(', ')} | ${bases[basis]}; ${cases} ${cases === 1 ? 'case' : 'cases'} |`;
  });
  const fieldRows = (['reservation', 'guests', 'rooms', 'charges'] as Table[]).flatMap((table) =>
    mapped(table).map(([field]) => {
      const marks = systems.map(({ fields }) => (fields.includes(`${table}.${field}`) ? '●' : ''));
      return `| \`${table === 'reservation' ? '' : `${table}.`}${field}\` | ${marks.join(' | ')} |`;
    }),
  );
  return `<!-- Written by scripts/connector-coverage.ts; edits are lost. -->

# Connectors

${systems.length} systems, made from their documents, pages and golden cases. Each has a page with a complete integration, the places of its
credentials, its sources and what nobody has checked yet. \`innbound init --system NAME\` and the console find a system by any of these names.
For one that is not here: [connect it](../guides/connect.md), or [add it](../../connectors/README.md#add-a-system).

*Gives* says what a list is asked by (changes since the last poll, days of stays, a queue), whether one reservation can be requested, and how
events come. *Rests on* says what the connector was made from: none has been tested against a live property unless it says so.

| system | vendor, other names | market | credentials | gives | rests on |
|---|---|---|---|---|---|
${systemRows.join('\n')}

For a partner that follows the [interface description](../partners/api.md): ${all
    .filter((one) => !isSystem(one))
    .map(link)
    .join(', ')}.

Left out: **Sabre SynXis** (CRS, Property Hub). Its public pages show the head of a new reservation only. Missing are the SOAP header with the
credentials of its messages, the modification and the cancellation as they are sent, and what ends a queue that is read by sequence numbers
(\`StartSeqNmbr\`, \`EndSeqNmbr\`). With samples from Sabre, start from [SiteMinder SMX](../../connectors/siteminder-smx/README.md): the
reservation has the same OTA form.

## Fields

● a case shows the field. An empty cell means that the system's interface does not offer it, or that no case shows it.

| field | ${systems.map(({ name }) => name).join(' | ')} |
|---|${systems.map(() => '---|').join('')}
${fieldRows.join('\n')}
`;
}

if (import.meta.main) {
  writeFileSync(connectorsFile, connectorsText());
  writeFileSync(systemsFile, systemsText());
}
