import { checkAuth } from '../../../packages/partner-kit/src/cli/auth-file.ts';
import { registerCheck, type Target } from '../../../packages/partner-kit/src/cli/check.ts';
import { registerSend } from '../../../packages/partner-kit/src/cli/send.ts';
import type { Shell } from '../../../packages/partner-kit/src/cli/shell.ts';
import { registerSimulate } from '../../../packages/partner-kit/src/cli/simulate.ts';
import { noIntegration } from '../../errors/no-integration.ts';
import { InnboundError } from '../../errors.ts';
import { type Command, withRuntime } from './command.ts';
import { io } from './io.ts';

const shell: Shell = {
  name: 'innbound partner',
  refuse: (code, message) => new InnboundError(code, message),
};

/** The commands of the partner kit. Only a check of an integration needs a workspace and the store. */
export function define(partner: Command): void {
  registerSimulate(partner, shell);
  registerCheck(partner, shell, {
    addOptions: (command) =>
      command
        .option('--integration <name>', 'use the URL and credentials of this integration')
        .option('-w, --workspace <dir>', 'the workspace folder', io().env.INNBOUND_WORKSPACE ?? '.'),
    find: targetOf,
  });
  registerSend(partner, shell);
}

function targetOf(name: string, options: { readonly workspace: string }): Promise<Target> {
  return withRuntime(options, 'partner check', async (runtime) => {
    const { integrations } = runtime.active();
    const brand = integrations.get(name);
    const pull = brand?.body.pull;
    if (pull === undefined) {
      const message = brand ? `${name} does not pull.` : noIntegration(name, integrations.keys());
      throw new InnboundError('documents.unknown_name', message);
    }
    const resolved = await runtime.resolve({ baseUrl: pull.base_url, auth: pull.auth });
    if (resolved.kind === 'missing') {
      const missing = resolved.missing.map(({ reference }) => reference);
      throw new InnboundError('documents.secret_missing', `Missing secrets: ${missing.join(', ')}.`);
    }
    const auth = checkAuth(resolved.body.auth);
    if ('wrong' in auth)
      throw new InnboundError('operate.usage', `The check cannot use the auth of ${name}: ${auth.wrong}.`);
    return { baseUrl: resolved.body.baseUrl, auth };
  });
}
