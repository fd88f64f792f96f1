import { stringify } from 'yaml';
import type { Prepared, PreparedStep } from '../../core/deliver/destination.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { integrationActionRoutes } from '../api/routes/integration-actions.ts';
import { prepareDestination } from '../operations/prepare-destination.ts';
import { call } from './call.ts';
import { audited, type BrandOptions, type Command, type CommonOptions } from './command.ts';
import { io, printJson, say, show, table } from './io.ts';
import { print } from './print.ts';

interface Options extends CommonOptions {
  readonly dryRun?: boolean;
}

interface ReleaseOptions extends BrandOptions {
  readonly preview?: boolean;
}

export function define(destination: Command): void {
  destination
    .subcommand(
      'prepare <name>',
      'create what a preset needs in the vendor’s account, or the tables of a warehouse, and prove the rights',
    )
    .option('--dry-run', 'only show what is missing')
    .notes(`
It checks what exists first, so running it again creates nothing twice. For a preset it prints the lines for \`with\` in the destination's
document. For a warehouse it prints the least grants, and proves login, rights and columns without writing a row. The guides list what
each needs: docs/guides/destinations.

Example:
  innbound destination prepare crm --dry-run
  innbound destination prepare crm`)
    .inRuntime((runtime, name: string, options: Options) => run(runtime, name, options));

  destination
    .subcommand('release <name>', 'send what waits for a destination that is in preview, and everything after it')
    .requiredOption('-i, --integration <name>', 'the brand whose deliveries wait')
    .option('--preview', 'only show who would be sent, who is left out and why')
    .inRuntime((runtime, name: string, options: ReleaseOptions) => runRelease(runtime, name, options));
}

async function runRelease(runtime: Runtime, destination: string, options: ReleaseOptions): Promise<void> {
  const { integration, preview } = options;
  const id = preview ? 'integrations.preview_release' : 'integrations.release';
  const answer = await call(runtime, integrationActionRoutes, id, { params: { integration, destination } });
  print(options, preview ? answer : { integration, destination, released: true });
}

async function run(runtime: Runtime, name: string, options: Options): Promise<void> {
  const dryRun = options.dryRun === true;
  const prepared = await prepareDestination(runtime, name, { dryRun });
  const created = prepared.steps.filter(({ result }) => result === 'created').length;
  if (created > 0) await audited(runtime, 'destinations.prepare', { target: { destination: name, created } });
  const isDone = prepared.steps.every(({ result }) => result !== 'failed' && result !== 'by_hand');
  if (!isDone) io().exitCode = 1;
  if (options.json) printJson({ destination: name, dry_run: dryRun, ...prepared, done: isDone });
  else report(name, prepared);
}

const words: Record<PreparedStep['result'], string> = {
  exists: 'exists',
  created: 'created',
  would_create: 'would be created',
  by_hand: 'to do by hand',
  unknown: 'not visible',
  failed: 'failed',
};

function report(name: string, { steps, settings, grants = [] }: Prepared): void {
  if (grants.length > 0) show(`The least grants:\n${grants.map((grant) => `  ${grant}`).join('\n')}\n`);
  if (steps.length === 0) {
    say(`There is nothing to create for ${name}.`);
    return;
  }
  show(table(steps.map(({ what, result }) => [words[result], what])));
  for (const { what, message } of steps) if (message !== undefined) say(`${what}: ${message}`);
  if (Object.keys(settings).length > 0) {
    show(`\nPut into the document of ${name}:\n${stringify({ with: settings }).trimEnd()}`);
  }
}
