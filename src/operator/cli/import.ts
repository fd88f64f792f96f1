import { proposalYaml } from '../../../packages/suggest/src/index.ts';
import { InnboundError } from '../../errors.ts';
import { importDescription } from '../operations/import-description.ts';
import type { Command, CommonOptions } from './command.ts';
import { readInputFile } from './input.ts';
import { printJson, say, show } from './io.ts';
import { count } from './progress.ts';
import { readSample } from './sample.ts';

interface Options extends CommonOptions {
  readonly name: string;
  readonly operation?: string;
  readonly sample?: string;
}

export function define(command: Command): void {
  command
    .common()
    .option('-n, --name <name>', 'the name of the connector', 'new-pms')
    .option('-o, --operation <operation>', 'the operation that lists reservations, such as "GET /reservations"')
    .option('-s, --sample <file>', 'a JSON response of that operation; it decides shape and mapping')
    .notes(`
Prints a connector in YAML: request, paging, single request, shape, mapping and status values, each with the confidence and the
reason; base URL and credentials for the integration follow as a comment. With --json {operations, connector, integration, fields,
unmapped, notes}. Reads only the file: references to other files or addresses are ignored. Stores nothing and sends no requests.

Examples:
  innbound import openapi.json --name acme-pms > connectors/acme-pms.yaml
  innbound import openapi.yaml --operation "POST /reservations/search" --sample response.json`)
    .action(async (file: string, options: Options) => {
      const imported = await importDescription(await readInputFile(file, 'description'), {
        name: options.name,
        ...(options.operation !== undefined && { operation: options.operation }),
        ...(options.sample !== undefined && { sample: await readSample(options.sample) }),
      });
      if (imported.kind === 'wrong') throw new InnboundError('operate.usage', imported.message);
      const { kind: _kind, ...proposal } = imported.proposal;
      if (options.json) {
        printJson(proposal);
        return;
      }
      show(proposalYaml(imported.proposal).trimEnd());
      if (proposal.unknown.length > 0)
        say(`Statuses that only the partner can explain: ${proposal.unknown.join(', ')}. Add them to values.status.`);
      const unsure = proposal.fields.filter(({ confidence }) => confidence < 0.75);
      say(`${imported.format}: ${count(proposal.fields.length, 'line')} proposed, ${unsure.length} of them uncertain.`);
    });
}
