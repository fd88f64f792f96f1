import { deliverPorts } from '../../composition/deliver.ts';
import { type FindingKind, findingKinds } from '../../core/deliver/compare.ts';
import { drainOnce } from '../../core/deliver/deliveries.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName } from '../../terms.ts';
import { auditStep, beginAudit, openAudit } from '../operations/audit.ts';
import type { Comparison, Difference } from '../store/comparisons.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { io, printJson, say, show } from './io.ts';
import { count, rowProgress } from './progress.ts';

interface Options extends CommonOptions {
  readonly integration?: string;
  readonly since?: string;
  readonly sample?: string;
  readonly repair?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option('-i, --integration <name>', 'only this integration')
    .option('--since <time>', 'only records that changed since then, such as 2026-11-19T04:00Z')
    .option('--sample <n>', 'only so many records of each integration, by chance')
    .option('--repair', 'send again what is behind, changed or missing there')
    .notes(`
Each record is equal, waiting (a delivery is under way or held back), behind (it has an older version), changed (it has other values; the
paths are shown, never values), missing, only_there (with the reason) or not_readable. Nothing is written without --repair. It exits with 0
only if everything could be read and nothing is behind, changed, missing or wrongly there. docs/guides/audit.md has the rest.

Example:
  innbound audit warehouse
  innbound audit crm --integration lisbon-grand --sample 500 --json`)
    .inRuntime((runtime, name: string, options: Options) => run(runtime, name, options));
}

async function run(runtime: Runtime, destination: string, options: Options): Promise<void> {
  const { integration, repair, json } = options;
  const request = { destination, integration, since: sinceOf(options), sample: sampleOf(options), repair };
  await audited(runtime, 'destinations.audit', { integration, target: { destination, repair: repair === true } });
  const audit = await openAudit(runtime, request);
  const progress = rowProgress();
  const brands: (Comparison & { readonly finished_at: Date })[] = [];
  const { signal } = new AbortController();
  let read = 0;
  try {
    for (let state = await beginAudit(audit), next: typeof state | undefined = state; next !== undefined; ) {
      const step = await auditStep(audit, next, signal);
      next = step.state;
      read += step.read;
      progress.show(read, read, 'compared');
      for (const one of step.differences) line(one, json);
      if (step.finished) brands.push(step.finished);
    }
  } finally {
    progress.end();
    await audit.holdings.close();
  }
  if (repair) await sendQueued(runtime, brands);
  const result = summary(request, brands);
  if (json) printJson(result);
  else say(sentence(result));
  const isRight = result.complete && brands.every(({ counts }) => counts.wrongly_there === 0);
  if (!isRight || result.behind + result.changed + result.missing > 0) io().exitCode = 1;
}

/** What a running service would send. */
async function sendQueued(runtime: Runtime, brands: readonly Comparison[]): Promise<void> {
  const queued = brands.filter(({ counts }) => counts.repaired > 0);
  const ports = await deliverPorts(runtime);
  for (const { integration } of queued) await drainOnce(ports, { integration: integration as IntegrationName });
  const sum = queued.reduce((all, { counts }) => all + counts.repaired, 0);
  say(`${count(sum, 'record')} queued to be sent again.`);
}

function summary(
  { destination, integration }: { readonly destination: string; readonly integration?: string | undefined },
  brands: readonly (Comparison & { readonly finished_at: Date })[],
) {
  const sum = (kind: keyof Comparison['counts']) => brands.reduce((all, { counts }) => all + counts[kind], 0);
  return {
    destination,
    integration: integration ?? null,
    compared: sum('compared'),
    ...(Object.fromEntries(findingKinds.map((kind) => [kind, sum(kind)])) as Record<FindingKind, number>),
    complete: brands.every(({ complete }) => complete),
    ...reasonOf(brands),
    started_at: brands[0]?.started_at ?? null,
    finished_at: brands.at(-1)?.finished_at.toISOString() ?? null,
  };
}

function reasonOf(brands: readonly Comparison[]): { readonly reason?: string } {
  const reason = brands.find((one) => one.reason !== null)?.reason;
  return typeof reason === 'string' ? { reason } : {};
}

function line(one: Difference, json: boolean | undefined): void {
  if (json) {
    printJson(one);
    return;
  }
  const versions = `version ${one.version_here ?? '-'} here, ${one.version_there ?? '-'} there`;
  const why = [...(one.paths ?? []), ...(one.reason === undefined ? [] : [one.reason])].join(', ');
  show(`${one.kind.replace('_', ' ')}  ${one.integration}  ${one.type} ${one.id}  ${versions}${why && `  ${why}`}`);
}

function sentence({ complete, reason, compared, equal, ...counts }: ReturnType<typeof summary>): string {
  const kinds = ['waiting', 'behind', 'changed', 'missing', 'only_there', 'not_readable'] as const;
  const others = kinds.flatMap((kind) => (counts[kind] === 0 ? [] : [`${counts[kind]} ${kind.replace('_', ' ')}`]));
  const end = complete ? '' : ` Not complete: ${reason ?? 'some records could not be read'}`;
  return `${equal} of ${count(compared, 'record')} equal${others.length > 0 ? `; ${others.join(', ')}` : ''}.${end}`;
}

function sinceOf({ since }: Options): string | undefined {
  if (since === undefined) return undefined;
  const at = Date.parse(since);
  if (Number.isNaN(at)) throw new InnboundError('operate.invalid_input', `--since is not a time: ${since}.`);
  return new Date(at).toISOString();
}

function sampleOf({ sample }: Options): number | undefined {
  if (sample === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(sample))
    throw new InnboundError('operate.invalid_input', '--sample is a number from 1 on.');
  return Number(sample);
}
