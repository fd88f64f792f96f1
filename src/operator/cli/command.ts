import { userInfo } from 'node:os';
import { Command as Base } from 'commander';
import type { RuntimeOptions } from '../../runtime/options.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Json } from '../../terms.ts';
import { writeAudit } from '../store/audit.ts';
import { io, say } from './io.ts';

/** Options of every command. */
export interface CommonOptions {
  readonly workspace: string;
  readonly json?: boolean;
}

/** Of a command for one brand. */
export interface BrandOptions extends CommonOptions {
  readonly integration: string;
}

/** A command of ours: commander's, with what all of them share. */
export class Command extends Base {
  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Adds the options that every command has. */
  common(): this {
    return this.option('-w, --workspace <dir>', 'the workspace folder', io().env.INNBOUND_WORKSPACE ?? '.').option(
      '--json',
      'print one JSON object (one per line for lists) on standard output',
    );
  }

  /** A command of a group, with these options. */
  subcommand(usage: string, description: string): Command {
    return this.command(usage).common().description(description);
  }

  /** The text below the options in the help of the command. */
  notes(text: string): this {
    return this.addHelpText('after', text);
  }

  /** The action with an open runtime. It gets the arguments, then the options. */
  inRuntime<Given extends readonly unknown[]>(
    work: (runtime: Runtime, ...given: Given) => Promise<unknown>,
    more: RuntimeNeeds | ((...given: Given) => RuntimeNeeds) = {},
  ): this {
    return this.action(async (...given: unknown[]) => {
      const passed = given as unknown as Given;
      const needs = typeof more === 'function' ? more(...passed) : more;
      const named = given.filter((one) => typeof one === 'string');
      await withRuntime(
        this.opts(),
        [...this.#path(), ...named].join(' '),
        (runtime) => work(runtime, ...passed),
        needs,
      );
    });
  }

  #path(): string[] {
    return this.parent instanceof Command && this.parent.parent ? [...this.parent.#path(), this.name()] : [this.name()];
  }
}

type RuntimeNeeds = Pick<RuntimeOptions, 'apply' | 'needs' | 'before'>;

/** Opens the runtime (store, documents, secrets), runs a command, and closes it whatever happens. */
export async function withRuntime<T>(
  options: CommonOptions,
  purpose: string,
  work: (runtime: Runtime) => Promise<T>,
  more: RuntimeNeeds = {},
): Promise<T> {
  // Loaded here: commands that need no store start in half the time (two arm64 cores).
  const { openRuntime } = await import('../operations/open-runtime.ts');
  const runtime = await openRuntime({
    workspaceDir: options.workspace,
    purpose: 'command',
    env: io().env,
    describe: purpose,
    ...more,
  });
  try {
    // A service that starts later finds nothing to report.
    if (runtime.restoreCheck.isRestored()) {
      say(
        `store.restored: the database is an older copy; the epoch is ${runtime.restoreCheck.epoch()} now. Repeat the erasures that are newer, ` +
          'then run `innbound resend` for each destination.',
      );
    }
    return await work(runtime);
  } finally {
    await runtime.close();
  }
}

/** Writes what an operator did from the command line into the audit log. */
export async function audited(
  runtime: Runtime,
  action: string,
  about: { readonly integration?: string | undefined; readonly target?: { readonly [key: string]: Json } } = {},
): Promise<void> {
  await writeAudit(runtime.pool, { actor: commandLineUser(), action, ...about });
}

export const commandLineUser = (): string => `${userInfo().username} (command line)`;
