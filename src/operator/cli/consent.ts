import { integrationActionRoutes } from '../api/routes/integration-actions.ts';
import { calling } from './call.ts';
import type { Command } from './command.ts';

export function define(command: Command): void {
  command.common().notes(`
Register the redirect URL with the partner: public_url of innbound.yaml followed by /oauth/callback. A running service
handles the redirect.

Example:
  innbound consent lisbon-grand`);
  calling(
    command,
    integrationActionRoutes,
    'integrations.consent',
    (integration: string) => ({ params: { integration } }),
    { next: '\nThe link works once.' },
  );
}
