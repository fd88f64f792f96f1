import path from 'node:path';
import { suggestConnector, suggestionYaml } from '../../../packages/suggest/src/index.ts';
import { InnboundError } from '../../errors.ts';
import { gapsText, previewMapping } from '../operations/preview-mapping.ts';
import type { Command, CommonOptions } from './command.ts';
import { printJson, say, show } from './io.ts';
import { count } from './progress.ts';
import { readSample } from './sample.ts';

interface Options extends CommonOptions {
  readonly sample: string;
  readonly name: string;
  readonly adapter?: string;
}

export function define(command: Command): void {
  command
    .common()
    .requiredOption(
      '-s, --sample <file>',
      'a response from the partner, as JSON or as the adapter reads it; - for standard input',
    )
    .option('-n, --name <name>', 'the name of the connector', 'new-pms')
    .option('--adapter <adapter>', 'xml, or a module that turns a response into JSON (docs/guides/adapters.md)')
    .notes(`
Prints a connector in YAML with the confidence and the reason on every line; with --json {connector, fields, unmapped,
unknown, filled}. Stores nothing and sends no requests. At the end it names the fields that not every record of the sample fills. A sample with several reservations in different statuses works best.

Examples:
  innbound suggest --sample response.json --name acme-pms > connectors/acme-pms.yaml
  innbound suggest --sample response.xml --adapter xml --name old-pms > connectors/old-pms.yaml
  innbound map acme-pms --sample response.json`)
    .action(async (options: Options) => {
      const { name, adapter, workspace } = options;
      const file = adapter === undefined || adapter === 'xml' ? adapter : path.resolve(adapter);
      const sample = await readSample(options.sample, file);
      const suggestion = suggestConnector(sample, {
        name,
        ...(file && {
          adapter: file === 'xml' ? file : `./${path.relative(path.join(workspace, 'connectors'), file)}`,
        }),
      });
      if (suggestion.kind === 'nothing') throw new InnboundError('operate.usage', suggestion.message);
      const { connector, fields, unmapped, unknown } = suggestion;
      const yaml = suggestionYaml(suggestion);
      const asked = { connector: yaml, sample: JSON.stringify(sample), push: false, limit: 1000 };
      const { filled } = previewMapping({ asked, integration: undefined });
      if (options.json) {
        printJson({ connector, fields, unmapped, unknown, filled });
        return;
      }
      show(yaml.trimEnd());
      const gaps = gapsText(filled);
      if (gaps !== '') say(`Not everywhere in the sample: ${gaps}.`);
      if (unknown.length > 0)
        say(`Statuses that only the partner can explain: ${unknown.join(', ')}. Add them to values.status.`);
      const unsure = fields.filter(({ confidence }) => confidence < 0.75);
      say(
        `${count(fields.length, 'field')} suggested, ${unsure.length} of them uncertain; unmapped: ${unmapped.length}.`,
      );
    });
}
