import { Option } from 'commander';
import { syncTypes } from '../../terms.ts';
import { runRoutes } from '../api/routes/runs.ts';
import { call, listAll } from './call.ts';
import type { Command, CommonOptions } from './command.ts';
import { positive } from './input.ts';
import { say } from './io.ts';
import { print } from './print.ts';

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
    .inRuntime(async (runtime, run_id: string | undefined, options: Options) => {
      if (run_id !== undefined) {
        const id = options.partnerText ? 'runs.partner_text' : 'runs.get';
        const run = await call<{ has_partner_text?: boolean }>(runtime, runRoutes, id, { params: { run_id } });
        print(options, run);
        if (run.has_partner_text && !options.json)
          say(`The partner’s own words: innbound runs ${run_id} --partner-text`);
        return;
      }
      const { integration, type: sync, status, limit } = options;
      const items = await listAll(runtime, runRoutes, 'runs.list', { integration, sync, status }, limit);
      print(
        options,
        { items },
        {
          none: 'No runs.',
          columns: [
            ...['run_id', 'integration', 'sync', 'status', 'waiting', 'queued_at', 'finished_at'],
            ...['fetched', 'changed', 'dead_lettered', 'held', 'error_code'],
          ],
        },
      );
    });
}
