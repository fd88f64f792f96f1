import type { FromChild, Report, ToChild } from './child-processes.ts';

/** The side of a child of `startChildren`. */
export interface ParentProcess<Job> {
  readonly job: Job;
  ready(said: string): void;
  /** What the other children answer; see `answer`. */
  askOthers(): Promise<readonly string[]>;
  /** Sets what this child answers when another one asks. */
  answer(text: () => Promise<string>): void;
  /** Ends this child. With a report, the parent ends the service. */
  end(report?: Report): Promise<never>;
}

export async function joinParent<Job>(): Promise<ParentProcess<Job>> {
  const send = (message: FromChild) => new Promise<void>((sent) => process.send?.(message, () => sent()) ?? sent());
  const job = Promise.withResolvers<Job>();
  const waiting = new Map<number, (texts: readonly string[]) => void>();
  let asked = 0;
  let answer = async () => '';
  process.on('message', (message: ToChild<Job>) => {
    if (message.kind === 'job') job.resolve(message.job);
    else if (message.kind === 'answers') {
      waiting.get(message.id)?.(message.texts);
      waiting.delete(message.id);
    } else if (message.kind === 'question') {
      void answer().then(
        (text) => send({ kind: 'answer', id: message.id, text }),
        () => {},
      );
    }
  });
  return {
    job: await job.promise,
    ready: (said) => void send({ kind: 'ready', said }),
    askOthers: () =>
      new Promise((resolve) => {
        const id = asked++;
        waiting.set(id, resolve);
        void send({ kind: 'ask', id });
      }),
    answer: (text) => {
      answer = text;
    },
    end: async (report) => {
      if (report) await send({ kind: 'failed', report });
      process.exit(report ? 1 : 0);
    },
  };
}
