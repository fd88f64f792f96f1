import { integrationActionRoutes } from '../api/routes/integration-actions.ts';
import { call } from './call.ts';
import type { BrandOptions, Command } from './command.ts';
import { io } from './io.ts';
import { print } from './print.ts';

export function define(command: Command): void {
  command
    .common()
    .requiredOption('-i, --integration <name>', 'the integration that the reservation belongs to')
    .notes(`
Needs pull.single in the connector. The answer counts like any other: a difference becomes a new version and is delivered.

Example:
  innbound refetch R-1042 --integration lisbon-grand`)
    .inRuntime(async (runtime, id: string, options: BrandOptions) => {
      const ask = { params: { integration: options.integration }, body: { id } };
      const done = await call<{ result: string }>(runtime, integrationActionRoutes, 'integrations.refetch', ask);
      print(options, done);
      if (done.result === 'absent') io().exitCode = 1;
    });
}
