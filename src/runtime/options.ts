import type { Pool } from '../core/store/db/pool.ts';
import type { Clock, Timers } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';

export interface RuntimeOptions {
  readonly workspaceDir: string;
  readonly purpose: 'service' | 'command';
  /** How other processes see this one, such as `serve on port 4180`. */
  readonly describe: string;
  readonly log?: Log;
  /** Whether to apply the workspace's documents first. Commands do so if no service is running on the workspace. */
  readonly apply?: 'always' | 'when_alone' | 'never';
  /** The one brand that the command is about: mistakes in documents that it does not use are reported and do not stop it. */
  readonly needs?: { readonly integration: string; onLeftOut(files: readonly string[]): void };
  /** Environment variables, by default those of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** The wall clock of this machine, which may be wrong. */
  readonly nodeClock?: Clock & Timers;
  /** Work on the database before it is migrated and its keys are read, such as a restore. */
  readonly before?: (pool: Pool) => Promise<void>;
}
