import { InnboundError } from '../errors.ts';
import { refetchReservation } from '../operations/refetch.ts';
import { audited, type BrandOptions, type Command } from './command.ts';
import { io, printJson, show } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .requiredOption('-i, --integration <name>', 'the integration that the reservation belongs to')
    .notes(`
Needs pull.single in the connector. The answer counts like any other: a difference becomes a new version and is delivered.

Example:
  innbound refetch R-1042 --integration lisbon-grand`)
    .inRuntime(async (runtime, id: string, options: BrandOptions) => {
      const { integration } = options;
      const done = await refetchReservation(runtime, integration, id, 'cli');
      await audited(runtime, 'integrations.refetch', { integration, target: { id, result: done.kind } });
      if (done.kind === 'failed') throw new InnboundError(done.code, done.message);
      if (options.json) {
        const { kind: result, ...rest } = done;
        printJson(
          'runId' in rest ? { result, outcome: rest.outcome, version: rest.version, run_id: rest.runId } : { result },
        );
      } else if (done.kind === 'absent') show(`The partner has no reservation ${id}. What is stored was not changed.`);
      else
        show(`${id}: ${done.outcome}${done.version === undefined ? '' : `, version ${done.version}`} (${done.runId})`);
      if (done.kind === 'absent') io().exitCode = 1;
    });
}
