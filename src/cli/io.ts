import { AsyncLocalStorage } from 'node:async_hooks';

/** What a command has of its process. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: NodeJS.ProcessEnv;
  exitCode?: number | string | null | undefined;
}

interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const given = new AsyncLocalStorage<Io>();

/** The process itself, or what the caller of `withIo` gave: tests run many commands in one process. */
export const io = (): Io => given.getStore() ?? process;

export const withIo = <T>(instead: Io, work: () => T): T => given.run(instead, work);
