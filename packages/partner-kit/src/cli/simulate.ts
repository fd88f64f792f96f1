import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  accidentForms,
  type DateForm,
  type Detail,
  dateForms,
  details,
  type Exclusion,
  exclusions,
  type FaultRule,
  faultKinds,
  faults,
  type Paging,
  type Property,
  pagings,
  readRule,
  runSimulate,
  type Shape,
  sampleAuth,
  shapes,
  shippedProperties,
} from '../simulate/index.ts';
import { terminalIo } from '../terminal/io.ts';
import { count, onPort, port, type Shell, secretFrom } from './shell.ts';

interface Options {
  readonly port: number;
  readonly host: string;
  readonly seed: string;
  readonly reservations: number;
  readonly hotels: number;
  readonly shape: Shape;
  readonly paging: Paging;
  readonly detail: Detail;
  readonly dates: DateForm;
  readonly excludes: Exclusion;
  readonly maxRangeDays?: number;
  readonly auth: keyof typeof sampleAuth;
  readonly every: number;
  readonly speed: number;
  readonly untidy: number;
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
    .option('--speed <n>', 'how many times faster the hotel’s calendar runs', decimal(0, 100_000), 1)
    .option('--untidy <share>', 'share of names, phones and e-mails with typing mistakes', decimal(0, 1), 0.3)
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
      const properties = shippedProperties.slice(0, options.hotels) as unknown as [Property, ...Property[]];
      const { pushUrl } = options;
      const secret = pushUrl === undefined ? '' : await secretFrom(shell, { env: options.pushSecretEnv });
      if (options.shape === 'bare' && (options.paging === 'cursor' || options.paging === 'body_link')) {
        throw shell.refuse(
          'operate.usage',
          'A bare array cannot contain a cursor or a link: use --shape wrapped or flat.',
        );
      }
      const targets = properties.map(({ id }) => ({
        url: pushUrl ?? '',
        secret,
        brand_id: options.pushBrand ?? id,
        propertyId: id,
      }));
      process.exitCode = await onPort(shell, options.port, () =>
        runSimulate(
          {
            port: options.port,
            host: options.host,
            seed: options.seed,
            reservations: options.reservations,
            properties,
            shape: options.shape,
            paging: options.paging,
            detail: options.detail,
            dates: options.dates,
            excludes: options.excludes,
            ...(options.maxRangeDays !== undefined && { maxRangeDays: options.maxRangeDays }),
            auth: sampleAuth[options.auth],
            changeEveryMs: options.every,
            speed: options.speed,
            untidy: options.untidy,
            faults: [...options.fault, ...options.accident],
            ...(pushUrl === undefined ? {} : { push: targets }),
            ...(options.streamKey && { stream: { key: options.streamKey, chain: options.streamChain } }),
          },
          options.json === true,
          terminalIo(),
        ),
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

function decimal(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most))
      throw new InvalidArgumentError(`Expected a number from ${least} to ${most}.`);
    return value;
  };
}
