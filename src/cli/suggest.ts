import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { suggestionYaml } from '../suggest/print.ts';
import { suggestConnector } from '../suggest/suggest.ts';
import { type CommonOptions, common, printJson, say, show } from './command.ts';
import { readSample } from './sample.ts';

interface Options extends CommonOptions {
  readonly sample: string;
  readonly name: string;
}

export function registerSuggest(program: Command): void {
  common(program.command('suggest'))
    .description('a proposed connector, from a sample response alone')
    .requiredOption('-s, --sample <file>', 'a response of the partner, as JSON; - for standard input')
    .option('-n, --name <name>', 'what the connector is called', 'new-pms')
    .addHelpText(
      'after',
      `
Prints a connector's YAML in which every line says how sure it is and why; with --json {connector, fields, unmapped}. Nothing is
stored and nothing is contacted. A sample with several reservations in different statuses is guessed best.

Examples:
  innbound suggest --sample response.json --name acme-pms > connectors/acme-pms.yaml
  innbound map acme-pms --sample response.json`,
    )
    .action(async (options: Options) => {
      const suggestion = suggestConnector(await readSample(options.sample), { name: options.name });
      if (suggestion.kind === 'nothing') throw new InnboundError('operate.usage', suggestion.message);
      const { connector, fields, unmapped } = suggestion;
      if (options.json) {
        printJson({ connector, fields, unmapped });
        return;
      }
      show(suggestionYaml(suggestion).trimEnd());
      const unsure = fields.filter(({ confidence }) => confidence < 0.75);
      say(`${fields.length} lines proposed, ${unsure.length} of them unsure; ${unmapped.length} places left unmapped.`);
    });
}
