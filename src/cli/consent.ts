import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { linkFor } from '../operations/consent.ts';
import { audited, type CommonOptions, commandLineUser, common, printJson, say, show, withRuntime } from './command.ts';

export function define(command: Command): void {
  common(command)
    .addHelpText(
      'after',
      `
Register the redirect URL with the partner: public_url of innbound.yaml followed by /oauth/callback. A running service
handles the redirect.

Example:
  innbound consent lisbon-grand`,
    )
    .action((integration: string, options: CommonOptions) =>
      withRuntime(options, 'consent', async (runtime) => {
        const link = await linkFor(runtime, integration, commandLineUser());
        if (link.kind === 'unavailable') throw new InnboundError(link.code, link.message);
        await audited(runtime, 'integrations.consent', { integration });
        if (options.json) return printJson({ url: link.url, valid_ms: link.validMs });
        show(link.url);
        say(`\nThe link works once and expires in ${link.validMs / 60_000} minutes.`);
      }),
    );
}
