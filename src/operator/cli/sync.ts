import { InvalidArgumentError, Option } from 'commander';
import { deliverPorts } from '../../composition/deliver.ts';
import { pullPorts } from '../../composition/pull.ts';
import { addDays, isLocalDate, localDateAt } from '../../core/canonical/values.ts';
import { drainOnce } from '../../core/deliver/deliveries.ts';
import { listRequestsOf } from '../../core/documents/pull.ts';
import type { PullPorts, QueueRequest } from '../../core/intake/pull/ports.ts';
import { asksByDays, listRequestOf, noList } from '../../core/intake/pull/request/list-request.ts';
import { type SyncResult, syncOnce } from '../../core/intake/pull/run/sync-once.ts';
import { type DryRecord, openDryRunStore } from '../../core/store/runs/dry-runs.ts';
import { errors, InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type IntegrationName, type SyncType, syncTypes } from '../../terms.ts';
import { fileHere, isUnapplied, listedBrands } from '../operations/document-file.ts';
import { excludedBounds, listerOf, staysIn } from '../operations/dry-run.ts';
import { liveNodes } from '../store/nodes.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { io, say, show } from './io.ts';
import { print } from './print.ts';
import { count, duration, errorOutput, progressView } from './progress.ts';

interface Options extends CommonOptions {
  readonly type?: SyncType;
  readonly from?: string;
  readonly to?: string;
  readonly dryRun?: boolean;
  readonly partnerText?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .addOption(new Option('-t, --type <sync>', 'which sync; without it, a backfill of the range').choices(syncTypes))
    .option('--from <date>', 'first day, YYYY-MM-DD; with --to, replaces the range of the sync', localDate)
    .option('--to <date>', 'last day, YYYY-MM-DD; both days are included', localDate)
    .option('--dry-run', 'pull and map, and report what would change; store, acknowledge and deliver nothing')
    .option('--partner-text', 'if the run fails, print what the partner said; may quote guest data, audited')
    .notes(`
A sync keeps the reservations it is for (pre_stay: arriving; stay: in house; post_stay: departed); a backfill keeps everything in
the range. Ranges are cut into requests of at most a week, or of window.step. The exit code is 0 only if the run was complete.

Examples:
  innbound sync lisbon-grand --type pre_stay
  innbound sync lisbon-grand --from 2025-01-01 --to 2025-12-31
  innbound sync lisbon-grand --type stay --dry-run --json`)
    .inRuntime(
      (runtime, integration: string, options: Options) => sync(runtime, integration, options),
      (integration) => ({
        needs: {
          integration,
          onLeftOut: (files) =>
            say(`Warning: ${files.join(', ')} left out because of mistakes; \`innbound validate\` lists them.`),
        },
      }),
    );
}

async function sync(runtime: Runtime, integration: string, options: Options): Promise<void> {
  const request = requestOf(runtime, integration, options);
  await warnOfEdits(runtime, integration);
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  const output = errorOutput();
  const view = progressView(output, () => performance.now());
  const startedAt = performance.now();
  const dead = deadReasons();
  const rows: DryRecord[] = [];
  const ports: PullPorts = {
    ...pullPorts(runtime),
    ...(options.dryRun && {
      runs: openDryRunStore(runtime.pool, {
        onRecord: (one) => {
          dead.add(one);
          if (one.integration === integration && rows.length < mostKnown) rows.push(one);
        },
      }),
      changed: () => {},
    }),
  };
  let result: SyncResult;
  try {
    result = await syncOnce(ports, request, {
      signal: stop.signal,
      ...((output.isTerminal || !options.json) && { onProgress: (progress) => view.show(progress) }),
    });
  } finally {
    view.done();
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
  if (!options.dryRun) await deliverHere(runtime, request.integration);
  const said = options.partnerText ? result.error?.said : undefined;
  if (said !== undefined) await audited(runtime, 'runs.partner_text', { target: { run_id: result.runId } });
  const warning = options.dryRun ? await boundsWarning(runtime, request, staysIn(rows), stop.signal) : undefined;
  report(result, options, performance.now() - startedAt, { said, reasons: dead.most(), warning });
}

/** With a running service its documents count: a file that was edited since has no effect yet. */
export async function warnOfEdits(runtime: Runtime, integration: string): Promise<void> {
  const connector = runtime.active().integrations.get(integration)?.body.connector ?? '';
  const used = [
    { kind: 'integration', name: integration },
    { kind: 'connector', name: connector },
  ] as const;
  for (const { kind, name } of used) {
    const own = await fileHere(runtime.workspaceDir, kind, name);
    const here = own ?? (kind === 'integration' ? (await listedBrands(runtime.workspaceDir)).get(name) : undefined);
    if (here === undefined || !(await isUnapplied(runtime, runtime.pool, { kind, name, ...here }))) continue;
    say(`Warning: ${here.file} is not applied yet, and the document in force is used. \`innbound apply\` takes it up.`);
  }
}

/** Enough stays to find a long one. */
const mostKnown = 500;

/** Whether the partner leaves out the first or the last day of each range. */
async function boundsWarning(
  runtime: Runtime,
  { integration, sync, from, to }: QueueRequest,
  listed: ReturnType<typeof staysIn>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const ports = pullPorts(runtime);
  const planned = await ports.plan(integration);
  if (planned.kind !== 'ok' || !asksByDays(planned.plan.settings, { sync })) return undefined;
  const { timezone, syncs } = planned.plan.settings;
  const { fromDays = 0, toDays = 0 } = (sync && syncs[sync]) ?? {};
  const today = localDateAt(timezone, runtime.clock.now());
  const asked = { from: from ?? addDays(today, fromDays), to: to ?? addDays(today, toDays) };
  return excludedBounds(listerOf(runtime, ports, integration, signal), asked, listed);
}

function requestOf(runtime: Runtime, name: string, options: Options): QueueRequest {
  const known = runtime.active().integrations;
  const request = known.get(name);
  if (request === undefined) {
    const names = [...known.keys()].join(', ') || 'none';
    throw new InnboundError('documents.unknown_name', `There is no integration ${name}; in force: ${names}.`);
  }
  const { pull } = request.connector.body;
  if (pull !== undefined && listRequestOf(listRequestsOf(pull), { sync: options.type }) === undefined)
    throw new InnboundError(noList.code, `${noList.message}.`);
  const hasRange = options.from !== undefined || options.to !== undefined;
  if (options.type === undefined && !hasRange) {
    const syncs = Object.keys(request.body.pull?.syncs ?? {}).join(', ') || 'none';
    throw new InnboundError('pull.no_such_sync', `Name a sync with --type (${name} has: ${syncs}), or a range.`);
  }
  if (options.type !== undefined && !hasRange && request.body.pull?.syncs[options.type] === undefined) {
    throw new InnboundError('pull.no_such_sync', `${name} has no sync ${options.type}.`);
  }
  if (hasRange && (options.from === undefined || options.to === undefined)) {
    const message = 'A range needs both --from and --to; for one day, give the same date twice.';
    throw new InnboundError('operate.usage', message);
  }
  if (options.from !== undefined && options.to !== undefined && options.from > options.to) {
    throw new InnboundError('pull.bad_range', `${options.from} is after ${options.to}.`);
  }
  return {
    integration: name as IntegrationName,
    kind: hasRange ? 'backfill' : 'manual',
    requestedBy: 'cli',
    sync: options.type,
    from: options.from,
    to: options.to,
  };
}

/** Without a running service, nothing else would deliver the changes of this run, which may serve several brands. */
export async function deliverHere(runtime: Runtime, integration: IntegrationName): Promise<void> {
  const workers = (await liveNodes(runtime.pool)).filter(({ role }) => role !== 'web');
  if (workers.length > 0) return runtime.wake.signal('outbox');
  const ports = await deliverPorts(runtime);
  for (const { integration: name, body } of runtime.active().integrations.values()) {
    if (name === integration || body.pulled_by === integration) await drainOnce(ports, { integration: name });
  }
}

interface Noticed {
  /** In the partner's own words. */
  readonly said: string | undefined;
  readonly reasons: ReturnType<ReturnType<typeof deadReasons>['most']>;
  readonly warning: string | undefined;
}

function report(
  { runId, state, counters, error, request }: SyncResult,
  options: Options,
  elapsedMs: number,
  { said, reasons, warning }: Noticed,
): void {
  if (state !== 'complete') io().exitCode = 1;
  const { dead: dead_lettered, ...counted } = counters;
  const { fetched, changed, unchanged, held, skipped, repeated, dropped, superseded, pages, requests } = counted;
  const details = {
    ...(reasons.length > 0 && { dead_letters: reasons }),
    ...(request && (options.dryRun || error) && { last_request: request }),
  };
  if (options.json) {
    print(options, {
      run_id: runId,
      status: state,
      ...{ fetched, changed, unchanged, dead_lettered, held, skipped, repeated, dropped, superseded, pages, requests },
      ...(options.dryRun && { dry_run: true }),
      ...(warning !== undefined && { warning }),
      ...details,
      ...(error && {
        error: {
          code: error.code,
          message: error.message,
          next: errors[error.code].next,
          ...(error.said !== undefined && { has_partner_text: true }),
          ...(said !== undefined && { partner_text: said }),
        },
      }),
    });
    return;
  }
  show(`${runId} ${state}${options.dryRun ? ' (nothing was stored)' : ''}, ${duration(elapsedMs)}`);
  show(`  ${count(requests, 'request')}, ${count(pages, 'page')}, ${count(fetched, 'record')}`);
  show(
    `  changed ${changed}, unchanged or listed again ${unchanged}, dead letters ${dead_lettered}, not of this sync ${skipped}, dropped by rules or map.where ${dropped}, older than stored ${superseded}`,
  );
  if (Object.keys(details).length > 0) print(options, details);
  if (warning !== undefined) say(`Warning: ${warning}`);
  if (error) say(`${error.code}: ${error.message}\n  next: ${errors[error.code].next}`);
  if (said !== undefined) say(`  the partner’s own words: ${said}`);
  if (counters.held > 0) say('The reasons of what is held back: innbound holds list');
  if (counters.dead > 0 && !options.dryRun) say('The reasons of dead letters: innbound dead-letters list');
  if (counters.repeated > 0) say('Rows had the id of another row of their page: check map.id, or use shape.flat');
  if (error?.said !== undefined && said === undefined) {
    // A dry run is not stored, so the partner's text is available only here.
    const where = options.dryRun ? 'repeat with --partner-text' : `innbound runs ${runId} --partner-text`;
    say(`The partner’s own words: ${where}`);
  }
}

function localDate(text: string): string {
  if (isLocalDate(text)) return text;
  const isWritten = /^\d{4}-\d{2}-\d{2}$/.test(text);
  throw new InvalidArgumentError(
    isWritten ? `${text} does not exist in the calendar.` : 'Write the date as YYYY-MM-DD.',
  );
}

/** How many records of a dry run become dead letters, by reason: it stores none that could be listed afterwards. */
function deadReasons() {
  const reasons = new Map<string, { readonly code: string; readonly message: string; records: number }>();
  return {
    add({ alone, outcome }: DryRecord): void {
      // A bare row of a known reservation is a dead letter only by itself.
      if (alone.kind !== 'dead' || outcome.outcome !== 'dead') return;
      const { code, message } = alone.deadLetter;
      const reason = reasons.getOrInsert(`${code} ${message}`, { code, message, records: 0 });
      reason.records++;
    },
    /** The most frequent ones first. */
    most: () => [...reasons.values()].toSorted((a, b) => b.records - a.records).slice(0, 10),
  };
}
