import { InnboundError } from '../errors.ts';
import { linkFor } from '../operations/consent.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { printJson, say, show } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .notes(`
Register the redirect URL with the partner: public_url of innbound.yaml followed by /oauth/callback. A running service
handles the redirect.

Example:
  innbound consent lisbon-grand`)
    .inRuntime(async (runtime, integration: string, options: CommonOptions) => {
      const link = await linkFor(runtime, integration, commandLineUser());
      if (link.kind === 'unavailable') throw new InnboundError(link.code, link.message);
      await audited(runtime, 'integrations.consent', { integration });
      if (options.json) return printJson({ url: link.url, valid_ms: link.validMs });
      show(link.url);
      say(`\nThe link works once and expires in ${link.validMs / 60_000} minutes.`);
    });
}
