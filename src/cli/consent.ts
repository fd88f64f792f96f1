import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { InnboundError } from '../errors.ts';
import { linkFor } from '../wiring/consent.ts';
import { type CommonOptions, common, printJson, say, show, withRuntime } from './command.ts';

export function registerConsent(program: Command): void {
  common(program.command('consent <integration>'))
    .description('a link through which somebody of the brand lets us in (OAuth 2.0 authorization code)')
    .addHelpText(
      'after',
      `
The partner must know the address that it sends people back to: public_url of innbound.yaml, then /oauth/callback. A running
service takes them there.

Example:
  innbound consent lisbon-grand`,
    )
    .action((integration: string, options: CommonOptions) =>
      withRuntime(options, 'consent', async (runtime) => {
        const link = await linkFor(runtime, integration, userInfo().username);
        if (link.kind === 'unavailable') throw new InnboundError(link.code, link.message);
        if (options.json) return printJson({ url: link.url, valid_ms: link.validMs });
        show(link.url);
        say(`\nGood once, for ${link.validMs / 60_000} minutes.`);
      }),
    );
}
