import { text } from 'node:stream/consumers';
import { Option } from 'commander';
import { sealerOf } from '../composition/push.ts';
import { formatDuration, parseDuration } from '../documents/units.ts';
import { InnboundError } from '../errors.ts';
import { leastSecret } from '../intake/push/verification.ts';
import { addressFor, standardOverlapMs } from '../operations/endpoints.ts';
import { subscribe, unsubscribe } from '../operations/subscribe.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { transaction } from '../store/db/pool.ts';
import { retireEndpoint, rotateSecret } from '../store/events/endpoints.ts';
import { countRejections, listRejections } from '../store/events/rejections.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { between } from './input.ts';
import { io, printJson, say, show, table } from './io.ts';

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

async function run(runtime: Runtime, name: string, options: Options): Promise<void> {
  const asked = [options.rotate || options.secretStdin, options.retire, options.rejections].filter(Boolean).length;
  if (asked > 1) throw new InnboundError('operate.usage', 'Give one of --rotate, --retire and --rejections.');
  if (options.rejections) return showRejections(runtime, name, options);
  if (options.retire) return retire(runtime, name, options);
  const integration = runtime.active().integrations.get(name);
  if (integration && !integration.body.push.enabled) {
    throw new InnboundError('push.no_endpoint', `Push is not enabled for ${name}.`);
  }
  const given = options.secretStdin ? await readSecret() : undefined;
  const address = await addressFor(runtime, name, {
    ...(options.rotate && given === undefined && { rotate: true }),
    overlapMs: options.overlap,
  });
  const action = options.rotate || given !== undefined ? 'endpoint.rotate' : 'endpoint.issue';
  if (address.secret !== undefined || action === 'endpoint.rotate')
    await audited(runtime, action, { integration: name, target: { endpoint_id: address.endpoint_id } });
  if (given !== undefined) await bringSecret(runtime, name, given, address.secret === undefined ? options.overlap : 0);
  const result = given === undefined ? address : withoutSecret(address);
  if (options.subscribe || options.unsubscribe) {
    const subscribed = await (options.subscribe ? subscribe : unsubscribe)(runtime, name);
    await audited(runtime, options.subscribe ? 'endpoint.subscribe' : 'endpoint.unsubscribe', { integration: name });
    if (options.json) return printJson({ ...result, subscription: subscribed.result, removed: subscribed.removed });
    show(`Subscription at the partner: ${subscribed.result}; ${subscribed.removed} removed.`);
  } else if (options.json) return printJson(result);
  print(result, given !== undefined);
  const proof = integration?.connector.body.push?.verification;
  if (proof?.type === 'token' && proof.query !== undefined)
    say(`\nThis sender does not sign: enter the URL there as ${result.url}?${proof.query}=SECRET.`);
}

type EndpointAddress = Awaited<ReturnType<typeof addressFor>>;

function print(address: EndpointAddress, brought: boolean): void {
  show(
    table([
      ['address', address.url],
      ['sandbox', address.sandbox_url],
      ['secret', address.secret ?? (brought ? 'as given' : 'already issued; --rotate creates a new one')],
    ]),
  );
  if (address.secret !== undefined)
    say('\nThe secret is shown only now and is stored encrypted. Send it to the partner over a secure channel.');
}

const withoutSecret = ({ secret: _, ...address }: EndpointAddress): EndpointAddress => address;

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

async function retire(runtime: Runtime, name: string, options: Options): Promise<void> {
  const retired = await transaction(runtime.pool, (tx) => retireEndpoint(tx, name));
  if (retired === undefined) throw new InnboundError('push.no_endpoint', `${name} has no endpoint.`);
  runtime.wake.signal('documents');
  await audited(runtime, 'endpoint.retire', { integration: name, target: { endpoint_id: retired } });
  if (options.json) return printJson({ endpoint_id: retired, retired: true });
  show(`Retired ${retired}: it answers 410 from now on.`);
}

async function showRejections(runtime: Runtime, name: string, options: Options): Promise<void> {
  const rejections = await listRejections(runtime.pool, name);
  if (options.json) {
    for (const one of rejections) printJson(one);
    return;
  }
  const counts = await countRejections(runtime.pool, name, Date.now() - 24 * 3_600_000);
  if (rejections.length === 0) return show('No refused requests.');
  show(table([['last 24 h', '', ''], ...counts.map(({ code, reason, count }) => [String(count), code, reason]), ['']]));
  show(
    table(
      rejections
        .slice(0, 50)
        .map((one) => [one.at.toISOString(), String(one.status), one.code, one.reason, one.address, one.request_id]),
    ),
  );
}
