import { z } from 'zod';
import { plainHeaders } from '../../../documents/credential.ts';
import { headerName, urlTemplate } from '../../../documents/scalars.ts';
import { empties } from './template.ts';

/** How one kind of request is made, and what its answers mean. */

const answerSchema = z
  .strictObject({
    results: z
      .string()
      .optional()
      .describe(
        'The path of a list in the answer with one result per item, in the same order; empty for the answer itself.',
      ),
    ok: z.string().optional().describe('The path in a result that is true if the item was accepted.'),
    errors: z.string().optional().describe('The path of a list in the answer with the failed items only.'),
    keys: z
      .array(z.string().min(1))
      .optional()
      .describe(
        'Paths in an error to the `unique` value of its item, or to a list of them; the first one found counts.',
      ),
    index: z.string().optional().describe('The path in an error of the position of its item, from 0; instead of keys.'),
    message: z
      .string()
      .optional()
      .describe('The path of the reason in a result or error. It becomes part of the message that the operator sees.'),
    code: z.string().optional().describe('The path of a code in a result or error.'),
    retry: z
      .array(z.string())
      .default([])
      .describe('Refusals that may go away (codes, or parts of the reason): the item is retried on the schedule.'),
    later: z.array(z.string()).default([]).describe('Codes of a limit: the item waits without using a try.'),
    settled: z
      .array(z.string())
      .default([])
      .describe(
        'Refusals that no retry changes (codes, or parts of the reason): settled with a note, not as a dead letter.',
      ),
  })
  .superRefine(({ results, ok, errors, keys, index }, context) => {
    const message =
      (results === undefined) === (errors === undefined)
        ? 'needs either results or errors'
        : results !== undefined && ok === undefined
          ? 'results needs ok'
          : errors !== undefined && keys === undefined && index === undefined
            ? 'errors needs keys or index'
            : undefined;
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
export type AnswerRule = z.infer<typeof answerSchema>;

const failureSchema = z.strictObject({
  message: z.string().optional().describe('The path of the reason in the answer.'),
  code: z.string().optional().describe('The path of a code in the answer.'),
  later: z
    .array(
      z.strictObject({
        status: z.int().min(400).max(599).describe('The status of the answer.'),
        code: z.string().optional().describe('Only with this code.'),
        empty: z.boolean().optional().describe('Only without a body.'),
        after_seconds: z.int().min(1).max(86_400).describe('How long to wait if the answer has no Retry-After.'),
      }),
    )
    .default([])
    .describe('Answers that mean "later" (limits, locks): the whole batch waits, without using a try.'),
  retry: z
    .array(z.string())
    .default([])
    .describe('Refusals that may go away (codes, or parts of the reason): retried on the schedule.'),
  settled: z
    .array(z.string())
    .default([])
    .describe('Refusals that no retry changes (codes, or parts of the reason): settled with a note.'),
  without: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Codes, each with the path of a field in the body: after a refusal with the code, the request is sent once more without the field.',
    ),
});
export type FailureRule = z.infer<typeof failureSchema>;

const foundSchema = z.strictObject({
  list: z
    .string()
    .describe('The path of a list in the answer, or of an object whose values are used; empty for the answer itself.'),
  key: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe(
      'The path in an element of the `unique` value of its item, or several; without it, the elements are in the order of the items.',
    ),
  as: z
    .record(z.string().regex(/^\w+$/), z.string())
    .describe(
      'Names, each with the path of a value in the element; later requests for the guest have it as {found.NAME}.',
    ),
});
export type FoundRule = z.infer<typeof foundSchema>;

/** Differences that are the vendor's own doing. */
export const normalizations = ['trim', 'lower', 'phone', 'instant', 'cents'] as const;

const readSchema = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET').describe('The method of the request.'),
  url: urlTemplate().describe(
    'The address of one item, such as https://crm.example/stays/{data.id}, or of a search for several.',
  ),
  body: z
    .json()
    .optional()
    .describe('The template of the body of a search; {items} are the `unique` values of its items.'),
  batch: z.int().min(1).max(1_000).default(1).describe('The most items in one request.'),
  list: z
    .string()
    .optional()
    .describe('The path of a list of elements in the answer; without it, the answer is the element.'),
  key: z.string().optional().describe('The path in an element of the `unique` value of its item.'),
  version: z.string().optional().describe('The path in an element of our version.'),
  fields: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      'Paths in the body, each with its path in an element; by default the same. A path may be the beginning of others.',
    ),
  except: z.array(z.string()).default([]).describe('Paths in the body that cannot be read back.'),
  same: z
    .record(z.string(), z.array(z.enum(normalizations)).min(1))
    .default({})
    .describe(
      'Paths in the body with what the vendor changes there: `trim` and `lower` (text), `phone` (only digits count), `instant` (a time in any zone or form), `cents` (amounts are rounded).',
    ),
});
export type ReadRule = z.infer<typeof readSchema>;

export const operationShape = {
  method: z
    .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
    .optional()
    .describe('The method of the request; POST by default.'),
  headers: z
    .record(headerName(), z.string().meta({ credential: { except: plainHeaders } }))
    .optional()
    .describe('Further headers.'),
  body: z
    .json()
    .meta({ credential: 'likely' })
    .optional()
    .describe(
      'The template of one item, such as { email: "{guest.email}" }; by default the message itself. `none` sends no body.',
    ),
  empty: z
    .enum(empties)
    .optional()
    .describe(
      'What the body holds for a value that the record does not have: no key (the default), null, or an empty text. A value of a guest is emptied only if the record had it before, because others may have filled the field.',
    ),
  envelope: z
    .json()
    .meta({ credential: 'likely' })
    .optional()
    .describe(
      'The template around the items of a batch, such as { inputs: "{items}" }; by default a list of the items.',
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
  found: foundSchema.optional().describe('A value of the answer that later requests of the same delivery need.'),
  answer: answerSchema.optional().describe('What the answer to a batch says about each item.'),
  read: readSchema
    .optional()
    .describe('How an audit reads back what this request wrote. A 404 means that it is not there.'),
  failure: failureSchema.optional().describe('What the answer to a request that failed as a whole means.'),
};

export const situationSchema = z.strictObject({
  ...operationShape,
  url: urlTemplate().optional().describe('The address, a template.'),
  skip: z.boolean().optional().describe('Send nothing.'),
  requires: z.array(z.string().min(1)).optional().describe('Paths without which this request is not sent.'),
  skip_if: z
    .array(z.string().min(1))
    .optional()
    .describe('Paths: if one of them has a value, this request is not sent.'),
  unless_equal: z
    .tuple([z.string().min(1), z.string().min(1)])
    .optional()
    .describe('Two paths: if their values are equal, this request is not sent.'),
  batch: z.int().min(1).max(10_000).optional().describe('The most items in one request; 1 by default.'),
});
export type Situation = z.infer<typeof situationSchema>;

/** The requests beside the usual one, and when each is sent. */
const situations = {
  new_guest: 'Before the usual request, for a guest whom the destination does not have in this record yet.',
  moved: 'Before the usual request, for a guest whose address changed: {guest.previous.key} is the old one.',
  details: 'Further requests after the usual one, for each guest.',
  consented: 'A further request for a guest who agreed to marketing for the first time or again.',
  stay: 'A further request for each reservation, with the values of {stay} and its first guest.',
  moment:
    'A further request when a stay is booked, changed, cancelled, checked in, checked out or a no-show: once each, with {moment.kind}, {moment.title} and {moment.id}.',
  removed:
    'The request for a reservation that has left the destination. By default the usual request, or the one of `stay`, with the status `removed`.',
  withdrawn: 'The request for a guest who withdrew consent: an explicit false after a true.',
  erased: 'The request for a guest or reservation that is erased.',
} as const;
export type SituationName = keyof typeof situations;
export const situationNames = Object.keys(situations) as SituationName[];

/** An object with one schema per situation. */
export function perSituation<Schema extends z.ZodType>(schema: (description: string) => Schema) {
  const entries = Object.entries(situations).map(([name, description]) => [name, schema(description)]);
  return z.strictObject(Object.fromEntries(entries) as Record<SituationName, Schema>);
}
