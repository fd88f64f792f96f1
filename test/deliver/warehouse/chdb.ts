import { createRequire } from 'node:module';
import path from 'node:path';
import { listen } from '../http-server.ts';
import { temporaryFolder } from '../support.ts';

/** A folder in which `npm install chdb@3.4.0` was run: the engine is a library of 543 MB, so these tests are opt-in. */
const folder = process.env.INNBOUND_CHDB;
export const noChdb: string | false =
  folder === undefined &&
  'INNBOUND_CHDB does not name a folder with the npm package chdb; this test needs ClickHouse itself';

interface Engine {
  query(sql: string, format: string): string;
  cleanup(): void;
}

/** ClickHouse behind its HTTP interface, as far as we use it: parameters, statement and rows, codes of errors. */
export async function startClickhouse() {
  const { Session } = createRequire(path.join(folder ?? '', 'index.js'))('chdb') as {
    Session: new (data: string) => Engine;
  };
  const data = await temporaryFolder();
  const engine = new Session(data.folder);
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const faults: number[] = [];
  const ask = (sql: string): Record<string, unknown>[] =>
    engine
      .query(sql, 'JSONEachRow')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  const server = await listen((request) => {
    const code = faults.shift();
    const failed = (number: number, text: string) => ({
      status: number === 516 ? 403 : number === 60 || number === 81 ? 404 : 400,
      headers: { 'x-clickhouse-exception-code': String(number) },
      body: text,
    });
    if (code !== undefined) return failed(code, `Code: ${code}. DB::Exception: no`);
    if (request.headers['x-clickhouse-key'] !== 'p@ss')
      return failed(516, 'Code: 516. DB::Exception: (AUTHENTICATION_FAILED)');
    const query = new URL(request.path, 'http://x').searchParams;
    try {
      const database = query.get('database');
      if (database !== null) engine.query(`USE ${database}`, 'CSV');
      for (const [name, value] of query)
        if (name.startsWith('param_')) engine.query(`SET ${name} = ${quoted(value)}`, 'CSV');
      engine.query(`SET date_time_input_format = 'best_effort', session_timezone = 'UTC'`, 'CSV');
      const rows = query.get('query');
      const text = engine.query(
        rows === null ? request.text : `${rows}\n${request.text}`,
        query.get('default_format') ?? 'CSV',
      );
      return { status: 200, body: text === '' ? undefined : JSON.parse(text) };
    } catch (error) {
      const { message } = error as Error;
      return failed(Number(/Code: (\d+)/.exec(message)?.[1] ?? 0), message.replace(/^.*?(?=Code:)/, ''));
    }
  });
  return {
    url: (database: string) => `${server.url.replace('http://', 'http://innbound:p%40ss@')}/${database}`,
    ask,
    faults,
    async stop() {
      await server.close();
      engine.cleanup();
      await data.remove();
    },
  };
}
