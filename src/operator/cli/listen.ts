import { ended } from '../../../packages/partner-kit/src/terminal.ts';
import { signedHeaders } from '../../../packages/sender/src/sign.ts';
import { InnboundError } from '../../errors.ts';
import { systemClock } from '../../kit/clock.ts';
import { type ListedEvent, type ListenPorts, listen } from '../operations/listen.ts';
import type { Command } from './command.ts';
import { between, secretFrom, whole } from './input.ts';
import { answer, io, say } from './io.ts';

interface Options {
  readonly server: string;
  readonly to: string;
  readonly tokenEnv: string;
  readonly tokenFile?: string;
  readonly secretEnv: string;
  readonly secretFile?: string;
  readonly last: number;
  readonly event?: string;
  readonly once?: boolean;
  readonly json?: boolean;
}

export function define(command: Command): void {
  command
    .requiredOption('--to <url>', 'where to send them, such as http://127.0.0.1:3000/webhooks')
    .option('--server <url>', 'the service that receives them', 'http://127.0.0.1:4180')
    .option(
      '--token-env <name>',
      'the variable that holds a token of the service, with the role operator',
      'INNBOUND_TOKEN',
    )
    .option('--token-file <file>', 'a file that holds the token, instead of a variable')
    .option('--secret-env <name>', 'the variable that holds the secret to sign with', 'INNBOUND_WEBHOOK_SECRET')
    .option('--secret-file <file>', 'a file that holds the secret, instead of a variable')
    .option('--last <n>', 'forward the last n recorded events first', between(whole, 0, 10_000, '0 to 10000'), 0)
    .option('--event <id>', 'forward the events with this id only; with --last 1 --once it replays one')
    .option('--once', 'stop after the recorded events; exit with 1 unless each was answered with a 2xx')
    .option('--json', 'print one JSON object per event')
    .notes(`
Reads through the API, so the service can be on another machine; its audit log records each payload that is read. Events are signed at the moment of
sending, with your own secret. They contain guest data: use a test brand, or a machine that may hold such data.

Examples:
  innbound listen lisbon-grand --to http://127.0.0.1:3000/webhooks
  innbound listen lisbon-grand --server https://hooks.hotels.example --to http://127.0.0.1:3000/webhooks --last 20 --once`)
    .action(async (integration: string, options: Options) => {
      const token = await secretFrom({ env: options.tokenEnv, file: options.tokenFile });
      const secret = await secretFrom({ env: options.secretEnv, file: options.secretFile });
      const stopping = new AbortController();
      if (!options.once) void ended().then(() => stopping.abort());
      const ports = portsOf(options, integration, token, secret);
      if (!options.once && !options.json)
        say(`Forwarding events of ${integration} to ${options.to}. Stop with Ctrl-C.`);
      const request = {
        last: options.last,
        once: options.once === true,
        ...(options.event !== undefined && { eventId: options.event }),
      };
      const failed = await listen(
        ports,
        request,
        (one) => {
          answer(options, one, `${one.received_at}  ${one.event}  ${one.event_id}  ${one.status}`);
        },
        stopping.signal,
      );
      if (options.once && failed > 0) io().exitCode = 1;
    });
}

const pageSize = 100;
const answerMs = 30_000;

function portsOf({ server, to }: Options, integration: string, token: string, secret: string): ListenPorts {
  const ask = async (path: string): Promise<Record<string, unknown> | undefined> => {
    const answer = await fetch(new URL(`/api/v1${path}`, server), {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerMs),
    }).catch((error: Error) => {
      throw new InnboundError('operate.usage', `${server} does not answer (${error.message}).`);
    });
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw new InnboundError('operate.usage', `${server} answered ${answer.status} to ${path}.`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const name = encodeURIComponent(integration);
  return {
    page: async (cursor) => {
      const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await ask(`/events?integration=${name}&limit=${pageSize}${after}`);
      return (page ?? { items: [], next_cursor: null }) as unknown as Awaited<ReturnType<ListenPorts['page']>>;
    },
    payload: async (seq) => {
      const event = await ask(`/integrations/${name}/events/${seq}`);
      if (event?.body == null) return undefined;
      // Viewers get a mask instead of payloads.
      if (typeof event.body !== 'object')
        throw new InnboundError(
          'operate.usage',
          `The token may not read payloads of ${integration}: it needs the role operator.`,
        );
      return JSON.stringify(event.body);
    },
    forward: async (payload: string, _event: ListedEvent) => {
      const headers = signedHeaders(secret, Math.floor(systemClock.now() / 1000), payload);
      const sent = fetch(to, { method: 'POST', headers, body: payload, signal: AbortSignal.timeout(answerMs) });
      return sent.then(
        ({ status }) => status,
        () => undefined,
      );
    },
    wait: (ms, signal) => systemClock.wait(ms, signal),
  };
}
