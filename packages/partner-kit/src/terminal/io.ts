import type { Io } from '../io.ts';
import { ended } from './ended.ts';
import { printable, printableColoured } from './printable.ts';

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
