import { z } from 'zod';
import { answerPath, checkAnswerPath } from './answer-path.ts';
import { crossChecked } from './checked.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const wanted = z.union([scalar, z.null(), z.array(z.union([scalar, z.null()])).min(1)], {
  error: 'must be a value, a list of values, or null for an empty one',
});

const errorSchema = crossChecked(
  z.strictObject({
    when: z
      .record(z.string().min(1), wanted)
      .describe('Paths in the answer, each with its required value, or a list of possible values. All must match.'),
    means: z
      .enum(['auth', 'rate', 'not_found', 'fault'])
      .describe(
        '`auth` renews the credentials, as a 401; `rate` waits, as a 429; `not_found` is a 404; `fault` is retried, as a 5xx.',
      ),
    message: answerPath().optional().describe('Path to the partner’s own message.'),
  }),
  ({ when }, report) => {
    if (typeof when === 'object' && when !== null && Object.keys(when).length === 0)
      report({ message: 'needs at least one path' }, ['when']);
    for (const path of Object.keys(when ?? {})) report(checkAnswerPath(path), ['when', path]);
  },
);

/** Errors that a partner reports inside a successful answer. */
export const errorsSchema = z
  .array(errorSchema)
  .default([])
  .describe(
    'Where an answer with a success status reports an error. The usual spellings are recognised without this: success: false, a filled error, status: error, each without rows.',
  );
