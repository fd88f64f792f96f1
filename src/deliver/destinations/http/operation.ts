import { z } from 'zod';
import { plainHeaders } from '../../../documents/credential.ts';
import { urlTemplate } from '../../../documents/url-template.ts';

/** How one kind of request is made, and what its answer says. */

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'is not a header name' });

const answerSchema = z
  .strictObject({
    results: z
      .string()
      .optional()
      .describe(
        'The path of a list in the answer with one result per item, in their order; empty for the answer itself.',
      ),
    ok: z.string().optional().describe('The path in a result that is true when the item was taken.'),
    errors: z.string().optional().describe('The path of a list in the answer that holds the failed items only.'),
    keys: z
      .array(z.string().min(1))
      .optional()
      .describe('Paths in an error to the `unique` value of its item, or to a list of them; the first found counts.'),
    message: z.string().optional().describe('The path of the reason in a result or error.'),
    code: z.string().optional().describe('The path of a code in a result or error.'),
    retry: z.array(z.string()).default([]).describe('Codes that may go away: the item is tried again on the schedule.'),
  })
  .superRefine(({ results, ok, errors, keys }, context) => {
    const message =
      (results === undefined) === (errors === undefined)
        ? 'needs either results or errors'
        : results !== undefined && ok === undefined
          ? 'results needs ok'
          : errors !== undefined && keys === undefined
            ? 'errors needs keys'
            : undefined;
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
export type AnswerRule = z.infer<typeof answerSchema>;

export const operationShape = {
  method: z
    .enum(['POST', 'PUT', 'PATCH', 'DELETE'])
    .optional()
    .describe('The method of the request; POST where nothing says otherwise.'),
  headers: z
    .record(headerName, z.string().meta({ credential: { except: plainHeaders } }))
    .optional()
    .describe('Further headers.'),
  body: z
    .json()
    .meta({ credential: 'likely' })
    .optional()
    .describe(
      'The template of one item, such as { email: "{guest.email}" }; left out, the message itself. `none` sends no body.',
    ),
  envelope: z
    .json()
    .meta({ credential: 'likely' })
    .optional()
    .describe(
      'The template around the items of a batch, such as { inputs: "{items}" }; left out, a list of the items.',
    ),
  unique: z
    .string()
    .optional()
    .describe(
      'A template whose value a batch may hold once only, such as {guest.email}; the newest item with it is sent.',
    ),
  accept: z
    .array(z.int().min(300).max(499))
    .optional()
    .describe('Statuses beside 2xx that mean done, such as 404 for a deletion.'),
  answer: answerSchema.optional().describe('What the answer to a batch says about each item.'),
};

export const situationSchema = z.strictObject({
  ...operationShape,
  url: urlTemplate().optional().describe('The address, a template.'),
  skip: z.boolean().optional().describe('Whether nothing is sent.'),
  batch: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('The most items in one request; 1 where nothing says otherwise.'),
});
export type Situation = z.infer<typeof situationSchema>;
