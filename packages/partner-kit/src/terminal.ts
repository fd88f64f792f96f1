import { printable, printableColoured } from './escape.ts';

/** The output of a partner command. Results and messages are separate, so that results can be piped. */
export interface Io {
  /** A line of the result. */
  readonly out: (text: string) => void;
  /** A message for the user. */
  readonly say: (text: string) => void;
  /** Replaces the last progress line on a terminal; does nothing elsewhere. */
  readonly progress: (text: string) => void;
  readonly colour: boolean;
  /** Resolves when the user stops the command. */
  readonly ended: () => Promise<void>;
}

/** The terminal for the commands of the kit. */
export function terminalIo(): Io {
  const live = process.stderr.isTTY === true;
  let drawn = false;
  const clear = () => {
    if (drawn) process.stderr.write('\r\u001b[2K');
    drawn = false;
  };
  return {
    out: (text) => {
      clear();
      // The report may be coloured. It quotes no values of the partner, but names of its fields.
      process.stdout.write(`${printableColoured(text)}\n`);
    },
    say: (text) => {
      clear();
      process.stderr.write(`${printable(text)}\n`);
    },
    progress: (text) => {
      if (!live) return;
      clear();
      if (text === '') return;
      process.stderr.write(printable(text).slice(0, Math.max(20, (process.stderr.columns ?? 80) - 1)));
      drawn = true;
    },
    colour: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
    ended,
  };
}

/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. Call it before starting anything, so that a
 * signal during the start also leads to an orderly stop.
 */
export function ended(atSecond: () => void = () => process.exit(130)): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const heard = (): void => {
      // A terminal signals the whole process group and npm signals its child as well: one Ctrl-C can arrive twice.
      if (firstAt !== undefined && performance.now() - firstAt > 2_000) atSecond();
      firstAt ??= performance.now();
      resolve();
    };
    process.on('SIGINT', heard);
    process.on('SIGTERM', heard);
  });
}
