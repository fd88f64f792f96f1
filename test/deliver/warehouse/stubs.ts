import assert from 'node:assert/strict';
import { createHash, createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import type { Json } from '../../../src/terms.ts';
import { listen, type Received, type Reply } from '../http-server.ts';
import { type Duck, openDuck, rewrites } from './duck.ts';

/**
 * Stand-ins of the engines that do not run here, made from the vendors' documentation: they verify logins, refuse what the vendor does
 * not document, and execute each statement for its meaning. They answer as the test asks: late, busy, away, or not at all after the effect.
 */

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

export type Fault = '429' | '503' | 'lost' | 'unauthorized' | 'forbidden' | 'quota' | 'conflict';

interface Stub {
  readonly url: string;
  readonly settings: Record<string, unknown>;
  readonly duck: Duck;
  readonly statements: string[];
  /** For the next statements, in turn. */
  readonly faults: Fault[];
  /** A record that the engine refuses, by id. */
  refused: string | undefined;
  /** Added to the clock of the stub, which judges logins. */
  skewMs: number;
  close(): Promise<void>;
}

function claimsOf(token: string): Record<string, Json> {
  const [header = '', claims = '', signature = ''] = token.split('.');
  assert.ok(
    createVerify('RSA-SHA256')
      .update(`${header}.${claims}`)
      .verify(createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature, 'base64url'),
    'the signature of the JWT',
  );
  assert.equal(JSON.parse(Buffer.from(header, 'base64url').toString()).alg, 'RS256');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

/** Only these keys, at this place. */
function only(value: Json, required: readonly string[], optional: readonly string[], where: string): void {
  const keys = Object.keys(value as object);
  for (const key of keys) assert.ok([...required, ...optional].includes(key), `${where} has the unknown field ${key}`);
  for (const key of required) assert.ok(keys.includes(key), `${where} lacks ${key}`);
}

type Ran = { readonly rows: Record<string, string | null>[] } | { readonly error: string };

async function stub(
  answer: (
    context: Stub & { run(sql: string, rows: readonly (string | null)[]): Promise<Ran> },
    request: Received,
  ) => Promise<Reply | 'cut'>,
  rewrite: (sql: string) => string,
  setup: readonly string[],
): Promise<Stub> {
  const duck = await openDuck(setup);
  const statements: string[] = [];
  const faults: Fault[] = [];
  const context: Stub = {
    url: '',
    settings: {},
    duck,
    statements,
    faults,
    refused: undefined,
    skewMs: 0,
    close: async () => {
      await server.close();
      duck.close();
    },
  };
  const run = async (sql: string, values: readonly (string | null)[]): Promise<Ran> => {
    assert.ok(!sql.includes(';'), 'one statement');
    statements.push(sql);
    if (context.refused !== undefined && values[0]?.includes(`"id":"${context.refused}"`))
      return { error: 'Conversion: refused' };
    const text = rewrite(sql);
    try {
      // Parameters besides the rows are texts that DuckDB gets as literals.
      return { rows: await duck.ask(text, text.includes('$1') ? values.slice(0, 1) : []) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  const server = await listen((request) => answer(Object.assign(context, { run }), request));
  return Object.assign(context, { url: server.url });
}

const isMissing = (message: string): boolean => /does not exist|not found|does not have a column/i.test(message);
const isValue = (message: string): boolean => /Conversion|Could not convert|out of range|Constraint/i.test(message);

export async function bigqueryStub(): Promise<Stub> {
  let tokens = 0;
  const jobs = new Map<string, unknown>();
  const made = await stub(
    async (self, request) => {
      const error = (code: number, reason: string, message: string): Reply => ({
        status: code,
        body: { error: { code, message, status: 'X', errors: [{ domain: 'global', reason, message }] } },
      });
      if (request.path === '/token') {
        const claims = claimsOf(new URLSearchParams(request.text).get('assertion') ?? '');
        only(claims, ['iss', 'scope', 'aud', 'iat', 'exp'], [], 'the claims');
        assert.deepEqual([claims.aud, Number(claims.exp) - Number(claims.iat)], [`${self.url}/token`, 3_600]);
        if (claims.iss !== 'loader@p.example') return { status: 400, body: { error: 'invalid_grant' } };
        const nowMs = Date.now() + self.skewMs;
        if (Math.abs(Number(claims.iat) * 1_000 - nowMs) > 300_000) {
          return { status: 400, headers: { date: new Date(nowMs).toUTCString() }, body: { error: 'invalid_grant' } };
        }
        tokens += 1;
        return { status: 200, body: { access_token: `t${tokens}`, expires_in: 3_599, token_type: 'Bearer' } };
      }
      if (request.headers.authorization !== `Bearer t${tokens}`) return error(401, 'authError', 'Invalid Credentials');
      const base = '/bigquery/v2/projects/my-hotels/queries';
      const jobComplete = (rows: Record<string, string | null>[]) => {
        const names = Object.keys(rows[0] ?? {});
        return {
          kind: 'bigquery#queryResponse',
          jobComplete: true,
          schema: { fields: names.map((name) => ({ name, type: 'STRING' })) },
          rows: rows.map((row) => ({ f: names.map((name) => ({ v: row[name] ?? null })) })),
        };
      };
      if (request.method === 'GET') {
        const url = new URL(request.path, self.url);
        assert.equal(url.searchParams.get('location'), 'EU');
        return { status: 200, body: jobs.get(url.pathname.slice(base.length + 1)) };
      }
      assert.equal(request.path, base);
      const body = request.body as Record<string, Json>;
      only(
        body,
        ['query', 'useLegacySql'],
        [
          'location',
          'defaultDataset',
          'parameterMode',
          'queryParameters',
          'timeoutMs',
          'labels',
          'maximumBytesBilled',
          'requestId',
        ],
        'the request',
      );
      assert.equal(body.useLegacySql, false);
      const fault = self.faults.shift();
      if (fault === '429' || fault === 'quota')
        return error(403, fault === 'quota' ? 'quotaExceeded' : 'rateLimitExceeded', 'Exceeded rate limits');
      if (fault === '503') return error(503, 'backendError', 'Backend');
      if (fault === 'forbidden') return error(403, 'accessDenied', 'Access Denied: Table p:d.reservations');
      if (fault === 'conflict')
        return error(
          400,
          'invalidQuery',
          'Could not serialize access to table p:d.reservations due to concurrent update',
        );
      if (fault === 'unauthorized') {
        tokens += 1;
        return error(401, 'authError', 'Invalid Credentials');
      }
      const parameters = (body.queryParameters ?? []) as {
        name: string;
        parameterType: Json;
        parameterValue: { value: string };
      }[];
      const named = new Map(
        parameters.map(({ name, parameterType, parameterValue }) => {
          assert.deepEqual(parameterType, { type: 'STRING' });
          return [name, parameterValue.value];
        }),
      );
      let sql = String(body.query);
      for (const [name, value] of named)
        if (name !== 'rows') sql = sql.replaceAll(`@${name}`, `'${value.replaceAll("'", "''")}'`);
      const ran = await self.run(sql, [named.get('rows') ?? null]);
      if ('error' in ran) {
        if (isMissing(ran.error))
          return error(
            /Schema/.test(ran.error) ? 404 : 400,
            /Schema/.test(ran.error) ? 'notFound' : 'invalidQuery',
            'Not found: Table',
          );
        return isValue(ran.error)
          ? error(400, 'invalidQuery', 'Invalid NUMERIC value: abc')
          : error(400, 'invalidQuery', `Syntax error: ${ran.error}`);
      }
      if (fault === 'lost') return 'cut';
      const jobReference = { projectId: 'my-hotels', jobId: `job_${self.statements.length}`, location: 'EU' };
      const done = { ...jobComplete(ran.rows), jobReference };
      // Every eighth job takes longer than the wait.
      if (self.statements.length % 8 !== 0) return { status: 200, body: done };
      jobs.set(jobReference.jobId, done);
      return { status: 200, body: { jobComplete: false, jobReference } };
    },
    rewrites.bigquery,
    [],
  );
  const keyFile = {
    client_email: 'loader@p.example',
    private_key: pem,
    private_key_id: 'k1',
    token_uri: `${made.url}/token`,
  };
  return Object.assign(made, {
    settings: {
      project: 'my-hotels',
      dataset: 'innbound',
      location: 'EU',
      credentials: JSON.stringify(keyFile),
      endpoint: made.url,
    },
  });
}

export async function snowflakeStub(): Promise<Stub> {
  const fingerprint = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64');
  const handles = new Map<string, unknown>();
  const made = await stub(
    async (self, request) => {
      const error = (status: number, code: string, sqlState: string, message: string): Reply => ({
        status,
        body: { code, sqlState, message },
      });
      assert.match(request.headers['user-agent'] ?? '', /^\w+\/[\w.-]+$/);
      assert.equal(request.headers['x-snowflake-authorization-token-type'], 'KEYPAIR_JWT');
      const claims = claimsOf((request.headers.authorization ?? '').replace('Bearer ', ''));
      only(claims, ['iss', 'sub', 'iat', 'exp'], [], 'the claims');
      assert.equal(claims.iss, `${claims.sub}.SHA256:${fingerprint}`);
      if (claims.sub !== 'MYORG-HOTELS.LOADER') return error(401, '390144', '', 'JWT token is invalid.');
      const nowMs = Date.now() + self.skewMs;
      if (Math.abs(Number(claims.iat) * 1_000 - nowMs) > 60_000) {
        return {
          ...error(401, '390144', '', 'JWT token is invalid.'),
          headers: { date: new Date(nowMs).toUTCString() },
        };
      }
      const url = new URL(request.path, self.url);
      if (request.method === 'GET') return { status: 200, body: handles.get(url.pathname.split('/').at(-1) ?? '') };
      assert.equal(url.pathname, '/api/v2/statements');
      assert.match(url.searchParams.get('requestId') ?? '', /^[0-9a-f-]{36}$/);
      const body = request.body as Record<string, Json>;
      only(
        body,
        ['statement'],
        ['timeout', 'database', 'schema', 'warehouse', 'role', 'bindings', 'parameters'],
        'the request',
      );
      assert.deepEqual([body.database, body.warehouse, body.role], ['HOTELS', 'LOADING', 'INNBOUND']);
      assert.ok(Buffer.byteLength(request.text) < 1_100_000, 'below the size of a statement');
      const fault = self.faults.shift();
      if (fault === '429') return { ...error(429, '390002', '', 'Too many requests'), headers: { 'retry-after': '3' } };
      if (fault === '503') return error(503, '', '', 'Service unavailable');
      if (fault === 'forbidden')
        return error(422, '003001', '42501', 'SQL access control error: Insufficient privileges to operate on schema');
      if (fault === 'conflict')
        return error(
          422,
          '000625',
          '57014',
          'Statement aborted because the number of waiters for this lock exceeds the limit',
        );
      const bindings = (body.bindings ?? {}) as Record<string, { type: string; value: string | null }>;
      for (const binding of Object.values(bindings))
        only(binding as unknown as Json, ['type', 'value'], [], 'a binding');
      const ran = await self.run(
        String(body.statement),
        Object.values(bindings).map(({ value }) => value),
      );
      if ('error' in ran) {
        if (isMissing(ran.error))
          return error(422, '002003', '42S02', 'SQL compilation error: Object does not exist or not authorized.');
        return isValue(ran.error)
          ? error(422, '100038', '22018', "Numeric value 'abc' is not recognized")
          : error(422, '001003', '42000', ran.error);
      }
      if (fault === 'lost') return 'cut';
      const names = Object.keys(ran.rows[0] ?? {});
      const statementHandle = `h${self.statements.length}`;
      const done = {
        code: '090001',
        sqlState: '00000',
        statementHandle,
        resultSetMetaData: {
          format: 'jsonv2',
          rowType: names.map((name) => ({ name: name.toUpperCase(), type: 'text' })),
        },
        data: ran.rows.map((row) => names.map((name) => row[name] ?? null)),
      };
      if (self.statements.length % 8 !== 0) return { status: 200, body: done };
      handles.set(statementHandle, done);
      return { status: 202, body: { code: '333334', message: 'Asynchronous execution in progress.', statementHandle } };
    },
    rewrites.snowflake,
    [],
  );
  const settings = {
    account: 'myorg-hotels',
    user: 'loader',
    private_key: pem,
    warehouse: 'loading',
    database: 'hotels',
    schema: 'innbound',
    role: 'innbound',
    endpoint: made.url,
  };
  return Object.assign(made, { settings });
}

export async function databricksStub(): Promise<Stub> {
  const done = new Map<string, unknown>();
  const made = await stub(
    async (self, request) => {
      const error = (status: number, error_code: string, message: string): Reply => ({
        status,
        body: { error_code, message },
      });
      const failed = (condition: string, sql_state: string): Reply => ({
        status: 200,
        body: {
          statement_id: 's',
          status: {
            state: 'FAILED',
            error: { error_code: 'BAD_REQUEST', message: `[${condition}] message`, sql_state },
          },
        },
      });
      if (request.headers.authorization !== 'Bearer dapi123')
        return error(403, 'PERMISSION_DENIED', 'Invalid access token.');
      if (request.method === 'GET') return { status: 200, body: done.get(request.path.split('/').at(-1) ?? '') };
      assert.equal(request.path, '/api/2.0/sql/statements/');
      const body = request.body as Record<string, Json>;
      only(
        body,
        ['statement', 'warehouse_id'],
        [
          'catalog',
          'schema',
          'parameters',
          'wait_timeout',
          'on_wait_timeout',
          'disposition',
          'format',
          'row_limit',
          'query_tags',
        ],
        'the request',
      );
      assert.match(String(body.wait_timeout), /^(?:0|[5-9]|[1-4]\d|50)s$/);
      const fault = self.faults.shift();
      if (fault === '429')
        return { ...error(429, 'REQUEST_LIMIT_EXCEEDED', 'slow down'), headers: { 'retry-after': '3' } };
      if (fault === '503') return error(503, 'TEMPORARILY_UNAVAILABLE', 'starting');
      if (fault === 'forbidden') return error(403, 'PERMISSION_DENIED', 'no');
      if (fault === 'conflict') return failed('DELTA_CONCURRENT_APPEND', '2D521');
      const parameters = (body.parameters ?? []) as { name: string; value: string; type: string }[];
      for (const one of parameters) only(one as unknown as Json, ['name'], ['value', 'type'], 'a parameter');
      const ran = await self.run(
        String(body.statement),
        parameters.map(({ value }) => value),
      );
      if ('error' in ran) {
        if (isMissing(ran.error)) return failed('TABLE_OR_VIEW_NOT_FOUND', '42P01');
        return isValue(ran.error)
          ? failed('CAST_INVALID_INPUT', '22018')
          : failed(`PARSE_SYNTAX_ERROR ${ran.error}`, '42601');
      }
      if (fault === 'lost') return 'cut';
      const names = Object.keys(ran.rows[0] ?? {});
      const statement_id = `s${self.statements.length}`;
      const answer = {
        statement_id,
        status: { state: 'SUCCEEDED' },
        manifest: {
          format: 'JSON_ARRAY',
          schema: { column_count: names.length, columns: names.map((name, position) => ({ name, position })) },
        },
        result: {
          row_count: ran.rows.length,
          data_array: ran.rows.map((row) => names.map((name) => row[name] ?? null)),
        },
      };
      if (self.statements.length % 8 !== 0) return { status: 200, body: answer };
      done.set(statement_id, answer);
      return { status: 200, body: { statement_id, status: { state: 'PENDING' } } };
    },
    rewrites.databricks,
    [],
  );
  const settings = {
    host: 'dbc-1.example',
    token: 'dapi123',
    warehouse_id: 'w1',
    catalog: 'hotels',
    schema: 'innbound',
    endpoint: made.url,
  };
  return Object.assign(made, { settings });
}
