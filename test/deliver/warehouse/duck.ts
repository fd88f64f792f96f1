import { DuckDBInstance } from '@duckdb/node-api';

/** An engine's statement, executed for its meaning: in DuckDB, after the rewrite of its dialect. */
export interface Duck {
  ask(sql: string, values?: readonly (string | null)[]): Promise<Record<string, string | null>[]>;
  close(): void;
}

export async function openDuck(setup: readonly string[] = []): Promise<Duck> {
  const instance = await DuckDBInstance.create(':memory:');
  const db = await instance.connect();
  await db.run(`set timezone = 'UTC'`);
  for (const sql of setup) await db.run(sql);
  return {
    async ask(sql, values = []) {
      const prepared = await db.prepare(sql);
      for (const [i, value] of values.entries()) {
        if (value === null) prepared.bindNull(i + 1);
        else prepared.bindVarchar(i + 1, value);
      }
      const result = await prepared.runAndReadAll();
      const names = result.columnNames();
      return result
        .getRows()
        .map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] == null ? null : String(row[i])])));
    },
    close() {
      db.closeSync();
      instance.closeSync();
    },
  };
}

type Rewrite = readonly (readonly [RegExp, string])[];

const rewritten = (sql: string, rewrite: Rewrite): string =>
  rewrite.reduce((text, [from, to]) => text.replace(from, to), sql);

const unpacked = '(SELECT unnest(CAST($1 AS JSON[])) AS r) r0';

/** What DuckDB writes in another way. Everything else runs as it is sent. */
export const rewrites = {
  bigquery: (sql: string) =>
    rewritten(sql, [
      [/`([^`]+)`/g, '"$1"'],
      [/"(\w+)\.(\w+(?:\.\w+)*)"/g, '$1.$2'],
      [/FROM UNNEST\(JSON_QUERY_ARRAY\(@rows\)\) AS r/g, `FROM ${unpacked}`],
      [/PARSE_JSON\(JSON_VALUE\(r, '([^']+)'\), wide_number_mode => 'round'\)/g, "CAST(r->>'$1' AS JSON)"],
      [/JSON_VALUE\((r|e), '([^']+)'\)/g, "($1->>'$2')"],
      [/JSON_QUERY\(e, '([^']+)'\)/g, "(e->'$1')"],
      [
        /CROSS JOIN UNNEST\(JSON_QUERY_ARRAY\(t\."(\w+)"\)\) AS e WITH OFFSET AS n/g,
        'CROSS JOIN LATERAL (SELECT unnest(CAST(t.$1 AS JSON[])) AS e, generate_subscripts(CAST(t.$1 AS JSON[]), 1) - 1 AS n) u',
      ],
      [/TO_JSON_STRING\((.*?)\)/g, 'CAST($1 AS VARCHAR)'],
      [/\bSTRING\b/g, 'VARCHAR'],
      [/\bNUMERIC\b/g, 'DECIMAL(38,9)'],
      [/\bTIMESTAMP\b/g, 'TIMESTAMPTZ'],
      [/ PARTITION BY DATE\("\w+"\)/g, ''],
      [/ CLUSTER BY .*$/g, ''],
      [/ OPTIONS \(.*\)$/g, ''],
      [/\w+\.INFORMATION_SCHEMA\.COLUMNS/g, "information_schema.columns WHERE table_schema = 'innbound'"],
    ]),
  snowflake: (sql: string) =>
    rewritten(sql, [
      [/FROM TABLE\(FLATTEN\(input => PARSE_JSON\(\?\)\)\) r/g, `FROM ${unpacked}`],
      [/PARSE_JSON\(r\.value:(\w+)::VARCHAR\)/g, "CAST(r->>'$1' AS JSON)"],
      [/\b(r|e)\.value:(\w+)::/g, "($1->>'$2')::"],
      [/\be\.value:(\w+)/g, "(e->'$1')"],
      [
        / , LATERAL FLATTEN\(input => t\.(\w+)\) e/g,
        ' CROSS JOIN LATERAL (SELECT unnest(CAST(t.$1 AS JSON[])) AS e, generate_subscripts(CAST(t.$1 AS JSON[]), 1) - 1 AS n) u',
      ],
      [/\be\.index\b/g, 'n'],
      [/TO_JSON\((t\.\w+)\)/g, 'CAST($1 AS VARCHAR)'],
      [/\bTIMESTAMP_TZ\b/g, 'TIMESTAMPTZ'],
      [/\bNUMBER\(38,9\)/g, 'DECIMAL(38,9)'],
      [/\bVARIANT\b/g, 'JSON'],
      [/ DATA_RETENTION_TIME_IN_DAYS = 0$/g, ''],
      [/TRANSIENT |COPY GRANTS |HOTELS\.(?=INNBOUND|information_schema)/g, ''],
      [/table_schema = 'INNBOUND'/g, "table_schema ilike 'innbound'"],
    ]),
  databricks: (sql: string) =>
    rewritten(sql, [
      [/`hotels`\./g, ''],
      [/`([^`]+)`/g, '"$1"'],
      [
        /explode\(from_json\(:rows, 'array<struct<(.*?)>>', map\('mode', 'FAILFAST'\)\)\)/g,
        "unnest(from_json($$1::JSON, '[{$1}]'))",
      ],
      [/posexplode\(from_json\(t\.(\w+), 'array<struct<.*?>>'\)\)/g, 'POSEXPLODE($1)'],
      [
        /LATERAL VIEW POSEXPLODE\((\w+)\) p AS n, e/g,
        'CROSS JOIN LATERAL (SELECT unnest(CAST(t.$1 AS JSON[])) AS e, generate_subscripts(CAST(t.$1 AS JSON[]), 1) - 1 AS n) u',
      ],
      [/\be\.(\w+)/g, "(e->>'$1')"],
      [/\bSTRING\b/g, 'VARCHAR'],
      [/\bTIMESTAMP\b/g, 'TIMESTAMPTZ'],
      [/ CLUSTER BY .*$/g, ''],
      [/ADD COLUMNS \((.*)\)$/g, 'ADD COLUMN $1'],
    ]).replace(/from_json\(\$1::JSON, '\[\{(.*?)\}\]'\)/g, (_, fields: string) => {
      const typed = fields.split(',').map((field) => `"${field.split(':')[0]}":"VARCHAR"`);
      return `from_json($1::JSON, '[{${typed.join(',')}}]')`;
    }),
  redshift: (sql: string) =>
    rewritten(sql, [
      [/JSON_SERIALIZE\(/g, 'public.json_text('],
      [
        / , t\."(\w+)" AS e AT n/g,
        ' CROSS JOIN LATERAL (SELECT value AS e, ordinality - 1 AS n FROM jsonb_array_elements(t."$1") WITH ORDINALITY) u',
      ],
      [/\be\."(\w+)" AS "extra"/g, '(e->\'$1\') AS "extra"'],
      [/\be\."(\w+)"/g, "(e->>'$1')"],
    ]),
  /** UPDATE … FROM and NOT EXISTS are the same in DuckDB; the unpacking and the names of types are not. */
  sqlserver: (sql: string) => {
    const types = new Map(
      Array.from(sql.matchAll(/\[(\w+)\] ([A-Z]+(?:\([\w,]+\))?) '\$\./g), ([, name = '', type = '']) => [name, type]),
    );
    const typed = sql.replace(/\br\.\[(\w+)\]/g, (_, name: string) => `CAST(r->>'$.${name}' AS ${types.get(name)})`);
    return rewritten(typed, [
      [/\[(\w+)\]/g, '"$1"'],
      [/FROM OPENJSON\(@rows\) WITH \(.*?\) r\b/g, `FROM ${unpacked}`],
      [/CONVERT\((\w+(?:\([^)]*\))?), (.*?), 127\)/g, 'CAST($2 AS $1)'],
      [
        /CROSS APPLY OPENJSON\(t\."(\w+)"\) e/g,
        'CROSS JOIN LATERAL (SELECT unnest(CAST(t."$1" AS JSON[])) AS value, generate_subscripts(CAST(t."$1" AS JSON[]), 1) - 1 AS key) e',
      ],
      [/JSON_VALUE\(e\."value", '([^']+)'\)/g, "(e.value->>'$1')"],
      [/JSON_QUERY\(e\."value", '([^']+)'\)/g, "(e.value->'$1')"],
      [/DATETIMEOFFSET\(3\)/g, 'TIMESTAMPTZ'],
      [/NVARCHAR\((?:\d+|MAX)\)(?: COLLATE \w+)?/g, 'VARCHAR'],
      [/\bBIT\b/g, 'BOOLEAN'],
      [/^IF OBJECT_ID\(.*?\) IS NULL CREATE TABLE /g, 'CREATE TABLE IF NOT EXISTS '],
      [/^IF SCHEMA_ID\(.*?\) IS NULL EXEC\('CREATE SCHEMA (.*?)'\)$/g, 'CREATE SCHEMA IF NOT EXISTS $1'],
      [/PRIMARY KEY NONCLUSTERED/g, 'PRIMARY KEY'],
      [/ COLLATE Latin1_General_100_BIN2/g, ''],
      [/CREATE OR ALTER VIEW/g, 'CREATE OR REPLACE VIEW'],
    ]);
  },
} as const;
