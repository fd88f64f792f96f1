import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { entriesOf, type Table } from '../src/canonical/fields.ts';

/** Writes docs/reference/connectors.md from the shipped connectors and their cases; test/docs/site-pages.test.ts says when to run it. */
export const connectorsFile = new URL('../docs/reference/connectors.md', import.meta.url);

const root = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

type Row = Readonly<Record<string, unknown>>;
interface Case {
  readonly records?: readonly Row[];
  readonly record?: Row;
}

interface Connector {
  readonly name: string;
  readonly feeds: string;
  readonly tested: string;
  /** Fields that a case shows, as table.field. */
  readonly shown: ReadonlySet<string>;
}

function connectorOf(name: string): Connector {
  const { pull, push, stream } = parse(read(`connectors/${name}/connector.yaml`)) as {
    pull?: { single?: unknown };
    push?: unknown;
    stream?: unknown;
  };
  const cases = globSync(`connectors/${name}/cases/*.json`, { cwd: root.pathname }).sort();
  const records = cases
    .map((file) => JSON.parse(read(file)) as Case)
    .flatMap(({ records = [], record }) => [...records, ...(record === undefined ? [] : [record])]);
  const feeds = [pull && 'list', pull?.single && 'single', stream ? 'stream' : push && 'webhooks'].filter(Boolean);
  const isLive = !/not been tested against a live/.test(read(`connectors/${name}/README.md`));
  const kind = name.startsWith('reference')
    ? 'the simulator'
    : isLive
      ? 'a live property'
      : 'invented data in the published shape';
  return {
    name,
    feeds: feeds.join(', '),
    tested: `${cases.length} ${cases.length === 1 ? 'case' : 'cases'}, ${kind}`,
    shown: new Set(records.flatMap(fieldsOf)),
  };
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

export function connectorsText(): string {
  const connectors = globSync('connectors/*/connector.yaml', { cwd: root.pathname })
    .map((file) => file.split('/')[1] ?? '')
    .sort()
    .map(connectorOf);
  const rows = (['reservation', 'guests', 'rooms', 'charges'] as Table[]).flatMap((table) =>
    mapped(table).map(([field]) => {
      const marks = connectors.map(({ shown }) => (shown.has(`${table}.${field}`) ? '●' : ''));
      return `| \`${table === 'reservation' ? '' : `${table}.`}${field}\` | ${marks.join(' | ')} |`;
    }),
  );
  const names = connectors.map(({ name }) => name);
  return `# Connectors

What the shipped connectors cover, made from their documents and golden cases. Each has a README with its sources, its limits and
what it does not cover.

| connector | feeds | tested by |
|---|---|---|
${connectors.map(({ name, feeds, tested }) => `| [${name}](../../connectors/${name}/README.md) | ${feeds} | ${tested} |`).join('\n')}

## Fields

● a case shows the field. An empty cell means that the partner's interface does not offer it, or that no case shows it.

| field | ${names.join(' | ')} |
|---|${names.map(() => '---|').join('')}
${rows.join('\n')}
`;
}

if (import.meta.main) writeFileSync(connectorsFile, connectorsText());
