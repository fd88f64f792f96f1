import { text } from 'node:stream/consumers';
import { Option } from 'commander';
import { sealerOf } from '../../composition/push.ts';
import { formatDuration, parseDuration } from '../../core/documents/units.ts';
import { leastSecret } from '../../core/intake/push/verification.ts';
import { transaction } from '../../core/store/db/pool.ts';
import { rotateSecret } from '../../core/store/events/endpoints.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { endpointRoutes } from '../api/routes/push.ts';
import { namedBrand, standardOverlapMs } from '../operations/endpoints.ts';
import { subscribe, unsubscribe } from '../operations/subscribe.ts';
import { type Ask, call } from './call.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { between } from './input.ts';
import { io, say } from './io.ts';
import { print } from './print.ts';

interface Options extends CommonOptions {
  readonly rotate?: boolean;
  readonly overlap: number;
  readonly secretStdin?: boolean;
  readonly retire?: boolean;
  readonly rejections?: boolean;
  readonly subscribe?: boolean;
  readonly unsubscribe?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option('--rotate', 'create a new secret; the previous one stays valid during the overlap')
    .addOption(
      new Option('--overlap <time>', 'how long the previous secret stays valid, such as 24h; 0s ends it at once')
        .argParser(between(parseDuration, 0, 30 * 86_400_000, 'a duration such as 24h or 0s, at most 30d'))
        .default(standardOverlapMs, formatDuration(standardOverlapMs)),
    )
    .option('--secret-stdin', 'read the new secret from standard input, for senders that choose their own')
    .option('--retire', 'retire the endpoint: its URL answers 410 from now on; the next call issues a new one')
    .option(
      '--subscribe',
      'make the partner send its events to the endpoint, where the connector says how; again after --rotate',
    )
    .option('--unsubscribe', 'end these subscriptions at the partner')
    .option('--rejections', 'list the last refused requests with the reasons; no payloads')
    .notes(`
The first call issues the URL and the secret. The secret is shown only once and is stored encrypted. The sandbox URL uses the
same secret, accepts any request, changes no data, and answers with a report of what a live endpoint would do.

Examples:
  innbound endpoint lisbon-grand
  innbound endpoint lisbon-grand --rotate --overlap 48h
  innbound endpoint lisbon-grand --rejections`)
    .inRuntime((runtime, name: string, options: Options) => run(runtime, name, options));
}

async function run(runtime: Runtime, integration: string, options: Options): Promise<void> {
  const { rotate, retire, secretStdin, overlap } = options;
  if ([rotate || secretStdin, retire, options.rejections].filter(Boolean).length > 1)
    throw new InnboundError('operate.usage', 'Give one of --rotate, --retire and --rejections.');
  const { connector } = namedBrand(runtime, integration);
  const ask = (id: string, body?: Ask['body']) =>
    call<{ url: string; secret?: string }>(runtime, endpointRoutes, id, { params: { integration }, body });
  if (options.rejections) return print(options, await ask('rejections.list'), { none: 'No refused requests.' });
  if (retire) return print(options, await ask('endpoint.retire'));
  const given = secretStdin ? await readSecret() : undefined;
  const address =
    rotate && given === undefined
      ? await ask('endpoint.rotate', { overlap_hours: overlap / 3_600_000 })
      : await ask('endpoint.issue');
  if (given !== undefined) {
    await bringSecret(runtime, integration, given, address.secret === undefined ? overlap : 0);
    await audited(runtime, 'endpoint.rotate', { integration });
  }
  const { secret, ...shown } = address;
  const subscription = options.subscribe || options.unsubscribe ? await atPartner(runtime, integration, options) : {};
  print(options, { ...shown, ...(given === undefined && secret !== undefined && { secret }), ...subscription });
  if (options.json) return;
  if (secret !== undefined && given === undefined)
    say('\nThe secret is shown only now and is stored encrypted. Send it to the partner over a secure channel.');
  const proof = connector.body.push?.verification;
  if (proof?.type === 'token' && proof.query !== undefined)
    say(`\nThis sender does not sign: enter the URL there as ${address.url}?${proof.query}=SECRET.`);
}

async function atPartner(runtime: Runtime, integration: string, options: Options): Promise<object> {
  const { result, removed } = await (options.subscribe ? subscribe : unsubscribe)(runtime, integration);
  await audited(runtime, options.subscribe ? 'endpoint.subscribe' : 'endpoint.unsubscribe', { integration });
  return { subscription: result, removed };
}

async function readSecret(): Promise<string> {
  const secret = (await text(io().stdin)).replace(/\r?\n$/, '');
  const weakness = weaknessOf(secret);
  if (weakness !== undefined) throw new InnboundError('operate.usage', weakness);
  return secret;
}

/** Why a secret chosen by a sender is refused. */
function weaknessOf(secret: string): string | undefined {
  if (secret.length > 1024) return 'A secret has at most 1024 characters.';
  if (secret.length < leastSecret) return 'The secret is too short: use at least 24 random characters.';
  if (new Set(secret).size < 12) return 'The secret repeats few characters: use at least 24 random characters.';
  if (/^(.{1,12})\1+.{0,12}$/s.test(secret)) return 'The secret repeats itself: use at least 24 random characters.';
  return undefined;
}

/** Replaces the issued secret, which expires after the overlap, with the sender's own. */
async function bringSecret(runtime: Runtime, name: string, secret: string, overlap: number): Promise<void> {
  await transaction(runtime.pool, (tx) => rotateSecret(tx, name, overlap, sealerOf(runtime), secret));
  runtime.wake.signal('documents');
}
