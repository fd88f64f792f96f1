/** Brokers of the tests, on loopback and on ports that were free a moment ago. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathOf } from '../../../scripts/prepare-servers.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/process.ts';
import { temporaryFolder } from '../support.ts';
import { kafkaFront, type Login } from './kafka-front.ts';

/** A program that is ready once it prints this, and that can be killed and started again. */
async function program(file: string, args: readonly string[], ready: RegExp, env: NodeJS.ProcessEnv = process.env) {
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    child = started;
    let said = '';
    for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    await until(`${file} is ready`, async () => {
      if (started.exitCode !== null) throw new Error(`${file} ended:\n${said}`);
      return ready.test(said);
    });
  };
  const kill = async () => {
    const { pid } = child ?? {};
    if (child === undefined || pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'close');
    process.kill(-pid, 'SIGKILL');
    await gone;
  };
  await start();
  return { start, kill };
}

/** An authority, and certificates of a server on loopback and of a client, in a folder. */
function certificates(folder: string) {
  const openssl = (args: string) => {
    const made = spawnSync('openssl', args.split(' '), { cwd: folder, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(made.stderr);
  };
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  writeFileSync(path.join(folder, 'names'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  openssl(`req -x509 ${key} -keyout ca.key -out ca.pem -subj /CN=authority -days 2`);
  for (const name of ['server', 'client']) {
    openssl(`req ${key} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
    openssl(
      `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out ${name}.pem -days 2 -extfile names`,
    );
    chmodSync(path.join(folder, `${name}.key`), 0o644);
  }
  const file = (name: string) => path.join(folder, name);
  const read = (name: string) => readFileSync(file(name), 'utf8');
  return {
    file,
    server: { ca: read('ca.pem'), cert: read('server.pem'), key: read('server.key') },
    client: { ca: read('ca.pem'), cert: read('client.pem'), key: read('client.key') },
  };
}

/** With `login`, which is an `authorization` of its settings, it also demands certificates of its clients. */
export async function startNats(login?: string) {
  const { folder, remove } = await temporaryFolder();
  const port = await freePort();
  const file = path.join(folder, 'nats.conf');
  const made = login === undefined ? undefined : certificates(folder);
  const tls =
    made &&
    `tls { cert_file: "${made.file('server.pem')}", key_file: "${made.file('server.key')}", ca_file: "${made.file('ca.pem')}", verify: true }
     authorization { ${login} }`;
  writeFileSync(
    file,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\nmax_payload: 65536\n${tls ?? ''}`,
  );
  const server = await program(pathOf('nats-server'), ['-c', file], /Server is ready/);
  return {
    port,
    tls: made?.client,
    ...server,
    async stop() {
      await server.kill();
      await remove();
    },
  };
}

export async function startRabbit() {
  const { folder, remove } = await temporaryFolder();
  chmodSync(folder, 0o755);
  mkdirSync(path.join(folder, 'home'));
  const [port, secure, distribution, names] = await Promise.all(Array.from({ length: 4 }, () => freePort()));
  const made = certificates(folder);
  const options = { cacertfile: 'ca.pem', certfile: 'server.pem', keyfile: 'server.key' };
  const settings = [
    'log.console = true',
    `listeners.ssl.1 = 127.0.0.1:${secure}`,
    ...Object.entries(options).map(([name, file]) => `ssl_options.${name} = ${made.file(file)}`),
    'ssl_options.verify = verify_peer',
    'ssl_options.fail_if_no_peer_cert = true',
  ];
  writeFileSync(path.join(folder, 'rabbit.conf'), `${settings.join('\n')}\n`);
  writeFileSync(path.join(folder, 'plugins'), '[].\n');
  const env = {
    PATH: process.env.PATH,
    HOME: path.join(folder, 'home'),
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_NODENAME: `bus${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: path.join(folder, 'rabbit'),
    RABBITMQ_ENABLED_PLUGINS_FILE: path.join(folder, 'plugins'),
  };
  // Started here, because otherwise the broker starts one that outlives it.
  const register = spawn('epmd', ['-port', String(names), '-address', '127.0.0.1'], { env, stdio: 'ignore' });
  const isListening = async () => spawnSync('epmd', ['-port', String(names), '-names'], { env }).status === 0;
  await until('the register of names listens', isListening);
  const server = await program(pathOf('rabbitmq-server'), [], /Server startup complete/, env);
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}`,
    /** Only for those with a certificate. */
    secureUrl: (password: string) => `amqps://guest:${password}@127.0.0.1:${secure}`,
    tls: made.client,
    ...server,
    async stop() {
      await server.kill();
      register.kill('SIGKILL');
      await remove();
    },
  };
}

const mokapi = (): string => {
  const require = createRequire(import.meta.url);
  const { platform, arch } = process;
  const inside = path.dirname(require.resolve(`@go-mokapi/${platform}-${arch}/package.json`));
  return path.join(inside, 'bin', 'mokapi');
};

/** A broker that speaks Kafka and keeps its messages in memory, behind a front that can be killed. */
export async function startKafka(topics: readonly string[], partitions = 3) {
  const { folder, remove } = await temporaryFolder();
  const port = await freePort();
  const channels = Object.fromEntries(
    topics.map((topic) => [
      topic,
      {
        address: topic,
        messages: { change: { contentType: 'application/octet-stream' } },
        bindings: { kafka: { partitions } },
      },
    ]),
  );
  const file = path.join(folder, 'kafka.json');
  const servers = { broker: { host: `127.0.0.1:${port}`, protocol: 'kafka' } };
  writeFileSync(file, JSON.stringify({ asyncapi: '3.0.0', info: { title: 'test', version: '1' }, servers, channels }));
  const args = [`--providers-file-filename=${file}`, `--api-port=${await freePort()}`, '--log-level=info'];
  const health = await freePort();
  // Its search index is in the folder for temporary files: two brokers with one folder stop each other.
  const env = { ...process.env, TMPDIR: folder };
  const server = await program(mokapi(), [...args, `--health-port=${health}`], /adding new kafka broker/, env);
  const hasAll = (text: string) => topics.every((topic) => text.includes(`"${topic}"`));
  const listed = () =>
    spawnSync(pathOf('kcat'), ['-L', '-b', `127.0.0.1:${port}`], { encoding: 'utf8', timeout: 20_000 }).stdout;
  await until('the broker has its topics', async () => hasAll(listed()));
  const front = await kafkaFront(port);
  return {
    ...front,
    /** Of mokapi itself. */
    port,
    /** A further way to it, with TLS and certificates of its clients, and a login. */
    async secured(login: Login) {
      const { folder: own, remove: forget } = await temporaryFolder();
      const { server: tls, client } = certificates(own);
      const door = await kafkaFront(port, { tls: { ...tls, requestCert: true }, login });
      return { ...door, tls: client, stop: () => Promise.all([door.kill(), forget()]) };
    },
    read: (topic: string) => kafkaMessages(`127.0.0.1:${port}`, topic),
    async stop() {
      await front.kill();
      await server.kill();
      await remove();
    },
  };
}

interface KafkaMessage {
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
  readonly payload: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Read with another client: kcat, on librdkafka. */
function kafkaMessages(broker: string, topic: string): KafkaMessage[] {
  const args = ['-C', '-b', broker, '-t', topic, '-o', 'beginning', '-e', '-q', '-J', '-u'];
  const { stdout, stderr, status } = spawnSync(pathOf('kcat'), args, {
    encoding: 'utf8',
    maxBuffer: 256 << 20,
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`kcat: ${stderr}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { headers = [], ...message } = JSON.parse(line) as KafkaMessage & { headers: string[] };
    const pairs = Array.from({ length: headers.length / 2 }, (_, i) => [headers[2 * i], headers[2 * i + 1]]);
    return { ...message, headers: Object.fromEntries(pairs) };
  });
}
