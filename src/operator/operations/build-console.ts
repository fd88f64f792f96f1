import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { consoleDist, isConsoleBuilt } from '../../../console/build.ts';
import type { Log } from '../../kit/log.ts';

export interface ConsolePorts {
  /** The folder of the built console. */
  readonly dist: string;
  /** Whether the build is in progress, or why it failed. */
  readonly progress: () => { readonly kind: 'building' } | { readonly kind: 'failed'; readonly message: string };
}

const program = fileURLToPath(new URL('../../../console/build.ts', import.meta.url));

/** Builds the console in the background if it is missing or outdated. Nothing else waits for it. */
export function startConsoleBuild(log: Log): { readonly ports: ConsolePorts; stop(): Promise<void> } {
  const building = new AbortController();
  let failure: string | undefined;
  const done = consoleBuilt(building.signal).then((outcome) => {
    if (outcome.kind !== 'failed' || building.signal.aborted) return;
    failure = `Run node_modules/.bin/node console/build.ts to see why. ${outcome.said.trim().split('\n')[0]}`;
    log.warn({ said: outcome.said }, 'console: could not be built');
  });
  return {
    ports: {
      dist: consoleDist,
      progress: () => (failure === undefined ? { kind: 'building' } : { kind: 'failed', message: failure }),
    },
    stop: async () => {
      building.abort();
      await done;
    },
  };
}

type Built = { readonly kind: 'there' } | { readonly kind: 'failed'; readonly said: string };

/** Resolves when the console is built, or when building it failed. */
export async function consoleBuilt(signal?: AbortSignal): Promise<Built> {
  if (isConsoleBuilt()) return { kind: 'there' };
  return promisify(execFile)(process.execPath, [program], signal && { signal }).then(
    (): Built => ({ kind: 'there' }),
    ({ stderr, message }): Built => ({ kind: 'failed', said: (stderr || message).slice(-4_000) }),
  );
}
