import { Option } from 'commander';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { listRuns, type RunDetail, type RunSummary, runDetail, runPartnerText } from '../store/runs/list.ts';
import { syncTypes, syncWords } from '../terms.ts';
import { audited, type Command, type CommonOptions } from './command.ts';
import { exchangeText } from './exchange-text.ts';
import { positive } from './input.ts';
import { answer, showList, table } from './io.ts';
import { duration } from './progress.ts';

const states = ['queued', 'running', 'complete', 'incomplete', 'failed'];

interface Options extends CommonOptions {
  readonly integration?: string;
  readonly type?: string;
  readonly status?: string;
  readonly limit: number;
  readonly partnerText?: boolean;
}

export function define(command: Command): void {
  command
    .common()
    .option('-i, --integration <name>', 'only this integration')
    .addOption(new Option('-t, --type <sync>', 'only this sync').choices([...syncTypes, 'backfill']))
    .addOption(new Option('--status <status>', 'only this state').choices(states))
    .option('--partner-text', 'what the partner said about the error that ended the run; may quote guest data, audited')
    .option('-n, --limit <n>', 'maximum number', positive, 20)
    .notes(`
Examples:
  innbound runs --status incomplete
  innbound runs run_01j9x…`)
    .inRuntime(async (runtime, run: string | undefined, options: Options) => {
      const { pool } = runtime;
      if (run === undefined) {
        const { integration, type: sync, status, limit } = options;
        return showList(options, await listRuns(pool, { integration, sync, status, limit }), {
          none: 'No runs.',
          head: ['run', 'integration', 'sync', 'status', 'queued', 'took', 'records', 'changed', 'dead', 'held', 'why'],
          line: row,
        });
      }
      const detail = await runDetail(pool, run);
      if (detail === undefined) throw new InnboundError('pull.no_such_run', `There is no run ${run}.`, { run });
      if (options.partnerText) return showPartnerText(runtime, detail, options);
      answer(options, detail, detailed(detail));
    });
}

async function showPartnerText(runtime: Runtime, { run_id }: RunDetail, options: Options): Promise<void> {
  await audited(runtime, 'runs.partner_text', { target: { run_id } });
  const text = await runPartnerText(runtime.pool, run_id);
  answer(
    options,
    { run_id, partner_text: text ?? null },
    text ?? 'The partner said nothing, or its words were deleted after their retention.',
  );
}

function row(run: RunSummary): string[] {
  return [
    run.run_id,
    run.integration,
    syncWords(run.sync),
    run.waiting === null ? run.status : `${run.status}, waits: ${run.waiting}`,
    time(run.queued_at),
    took(run),
    String(run.fetched),
    String(run.changed),
    String(run.dead_lettered),
    String(run.held),
    run.error_code ?? '',
  ];
}

function detailed(run: RunDetail): string {
  const lines = [
    `${run.run_id}: ${syncWords(run.sync)} of ${run.integration}, ${run.status}${run.waiting === null ? '' : ` (waits: ${run.waiting})`}`,
    `asked     ${run.from ?? '?'} to ${run.to ?? '?'}, by ${run.requested_by} at ${time(run.queued_at)}, took ${took(run) || 'nothing yet'}`,
    `answered  ${run.requests} requests (${run.retries} repeated), ${run.pages} pages, ${Math.round(run.bytes / 1024)} KiB`,
    `waited    ${duration(run.waited_ms)}`,
    `found     ${run.fetched} records, ${run.skipped} of them not of this sync${run.repeated > 0 ? `; ${run.repeated} rows had the id of another row of their page` : ''}`,
    `changed   ${run.changed}; unchanged ${run.unchanged}, older than stored ${run.superseded}, dropped by rules or map.where ${run.dropped}, dead letters ${run.dead_lettered}, held back ${run.held}`,
    `documents connector version ${run.connector_version ?? '?'}, integration version ${run.integration_version ?? '?'}`,
  ];
  if (run.error_code !== null) lines.push(`ended by  ${run.error_code}: ${run.error_message ?? ''}`);
  if (run.has_partner_text) lines.push(`          the partner’s own words: innbound runs ${run.run_id} --partner-text`);
  for (const { code, message, from, to } of run.findings) lines.push(`  ${from} to ${to}: ${code}: ${message}`);
  if (run.last_request !== null) lines.push('', exchangeText(run.last_request));
  if (run.windows.length > 0) {
    const head = ['window', 'passes', 'pages', 'requests', 'rows', 'new', 'changed', 'slowest', 'waited'];
    const rows = run.windows.map((one) => [
      `${one.from} to ${one.to}`,
      ...[one.passes, one.pages, one.requests, one.rows, one.fresh, one.changed].map(String),
      `${one.longest_ms} ms`,
      duration(one.waited_ms),
    ]);
    lines.push('', table([head, ...rows]));
  }
  return lines.join('\n');
}

function time(at: Date): string {
  return at.toISOString().slice(0, 19).replace('T', ' ');
}

function took({ started_at: from, finished_at: to }: RunSummary): string {
  return from === null ? '' : duration((to ?? new Date()).getTime() - from.getTime());
}
