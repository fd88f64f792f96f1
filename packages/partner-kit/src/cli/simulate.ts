import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  accidentForms,
  dateForms,
  details,
  exclusions,
  type FaultRule,
  faultKinds,
  faults,
  type Property,
  pagings,
  readRule,
  runSimulate,
  type SimulatorOptions,
  sampleAuth,
  shapes,
  shippedProperties,
} from '../simulate/index.ts';
import { terminalIo } from '../terminal.ts';
import { count, number, onPort, port, type Shell, secretFrom } from './shell.ts';

interface Options
  extends Required<
    Pick<
      SimulatorOptions,
      | 'port'
      | 'host'
      | 'seed'
      | 'reservations'
      | 'shape'
      | 'paging'
      | 'detail'
      | 'dates'
      | 'excludes'
      | 'speed'
      | 'untidy'
    >
  > {
  readonly maxRangeDays?: number;
  readonly hotels: number;
  readonly auth: keyof typeof sampleAuth;
  readonly every: number;
  readonly fault: readonly FaultRule[];
  readonly accident: readonly FaultRule[];
  readonly pushUrl?: string;
  readonly pushSecretEnv: string;
  readonly pushBrand?: string;
  readonly streamKey?: string;
  readonly streamChain: string;
  readonly json?: boolean;
}

export function registerSimulate(program: Command, shell: Shell): void {
  program
    .command('simulate')
    .description('simulate a live hotel group: REST API, every auth method, faults on demand, signed events')
    .option('-p, --port <n>', 'the port to listen on', port, 4700)
    .option('--host <address>', 'the address to listen on; its web page needs no sign-in', '127.0.0.1')
    .option('--seed <text>', 'the same seed creates the same hotel', '1')
    .option('--reservations <n>', 'number of reservations at the start', count(1, 200_000), 2_000)
    .option(
      '--hotels <n>',
      `number of hotels in the group, 1 to ${shippedProperties.length}`,
      count(1, shippedProperties.length),
      1,
    )
    .addOption(new Option('--shape <shape>', 'how lists are laid out').choices(shapes).default('wrapped'))
    .addOption(new Option('--paging <paging>', 'how lists are paged').choices(pagings).default('offset'))
    .addOption(
      new Option('--detail <detail>', 'thin: events carry only what the interface description lists')
        .choices(details)
        .default('full'),
    )
    .addOption(new Option('--dates <form>', 'how requests write a day').choices(dateForms).default('iso'))
    .addOption(
      new Option('--excludes <end>', 'which ends of a requested range do not belong to it')
        .choices(exclusions)
        .default('none'),
    )
    .option('--max-range-days <n>', 'refuse longer ranges', count(1, 366))
    .addOption(
      new Option('--auth <method>', 'how the API authenticates clients')
        .choices(Object.keys(sampleAuth))
        .default('none'),
    )
    .option('--every <ms>', 'average milliseconds between changes; 0 for no changes', count(0, 86_400_000), 1_000)
    .option('--speed <n>', 'how many times faster the hotel’s calendar runs', number(0, 100_000), 1)
    .option('--untidy <share>', 'share of names, phones and e-mails with typing mistakes', number(0, 1), 0.3)
    .option('--fault <rule>', 'KIND[,chance=0.1][,times=3][,on=list][,value=5]; repeatable', addFault, [])
    .option('--accident <what>', 'a mistake in all rows: rename:email[,times=3]; repeatable', addAccident, [])
    .option('--push-url <url>', 'the webhook endpoint for its events')
    .option('--push-secret-env <name>', 'the variable that holds the endpoint’s secret', 'INNBOUND_WEBHOOK_SECRET')
    .option('--push-brand <id>', 'the brand_id in its events; by default the hotel’s own')
    .option('--stream-key <key>', 'also offers its events as a stream at /subscriptions, for this application key')
    .option('--stream-chain <code>', 'the chain of the stream', 'SIM')
    .option('--json', 'print its URLs as one JSON object')
    .addHelpText(
      'after',
      `
Kinds of faults:
${faultKinds
  .filter((kind) => kind !== 'accident')
  .map((kind) => `  ${kind.padEnd(27)} ${faults[kind].what}`)
  .join('\n')}

Accidents:
${accidentForms.map((form) => `  ${form}`).join('\n')}

Examples:
  ${shell.name} simulate --auth oauth2 --paging cursor
  ${shell.name} simulate --accident rename:email,times=10
  ${shell.name} simulate --fault rate_limit,chance=0.05,value=3 --fault truncate,times=2
  INNBOUND_WEBHOOK_SECRET=… ${shell.name} simulate --push-url http://127.0.0.1:4180/webhooks/…`,
    )
    .action(async (options: Options) => {
      const { hotels, auth, every, fault, accident, pushUrl, pushSecretEnv, pushBrand, streamKey, streamChain } =
        options;
      const properties = shippedProperties.slice(0, hotels) as unknown as [Property, ...Property[]];
      const secret = pushUrl === undefined ? '' : await secretFrom(shell, { env: pushSecretEnv });
      if (options.shape === 'bare' && (options.paging === 'cursor' || options.paging === 'body_link')) {
        throw shell.refuse(
          'operate.usage',
          'A bare array cannot contain a cursor or a link: use --shape wrapped or flat.',
        );
      }
      const settings: SimulatorOptions = {
        ...options,
        properties,
        auth: sampleAuth[auth],
        changeEveryMs: every,
        faults: [...fault, ...accident],
        ...(pushUrl !== undefined && {
          push: properties.map(({ id }) => ({ url: pushUrl, secret, brand_id: pushBrand ?? id, propertyId: id })),
        }),
        ...(streamKey && { stream: { key: streamKey, chain: streamChain } }),
      };
      process.exitCode = await onPort(shell, options.port, () =>
        runSimulate(settings, options.json === true, terminalIo()),
      );
    });
}

const addFault = (text: string, before: readonly FaultRule[]) => addRule(text, before);
const addAccident = (text: string, before: readonly FaultRule[]) => addRule(`accident,of=${text}`, before);

function addRule(text: string, before: readonly FaultRule[]): readonly FaultRule[] {
  const [kind = '', ...settings] = text.split(',');
  const given = settings.map((setting) => {
    const [name = '', value = ''] = setting.split('=');
    return [name, name === 'on' || name === 'of' ? value : Number(value)] as const;
  });
  const unknown = given.find(([name]) => !['chance', 'times', 'on', 'value', 'of'].includes(name));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown[0]} is not a setting of a fault; use chance, times, on or value.`);
  const rule = readRule({ kind, ...Object.fromEntries(given) });
  if ('wrong' in rule) throw new InvalidArgumentError(rule.wrong);
  return [...before, rule];
}
