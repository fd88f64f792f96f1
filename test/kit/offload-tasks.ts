import { serveTasks } from '../../src/kit/offload-worker.ts';

/** Tasks for offload.test.ts, each with one way to end. */
serveTasks(
  new Map<string, (input: never) => unknown>([
    ['double', (input: number) => input * 2],
    [
      'spin',
      () => {
        for (;;);
      },
    ],
    [
      'hoard',
      () => {
        const kept: string[][] = [];
        for (;;) kept.push(Array.from({ length: 10_000 }, (_, i) => `${i}`));
      },
    ],
    [
      'throw',
      () => {
        throw new RangeError('with the text that was sent');
      },
    ],
    ['exit', () => process.exit(3)],
  ]),
);
