import { z } from 'zod';

/** One thing that a vendor's account needs, or several of a kind: how to find it, and how to create it. Texts are templates. */
export const prepareStepSchema = z.strictObject({
  what: z.string(),
  /** The step is done for each of these, as {each.…}. */
  for: z.array(z.record(z.string(), z.json())).default([{}]),
  find: z
    .strictObject({
      /** It exists unless the answer is a 404; */
      url: z.string(),
      /** or if this list of the answer has an element with these values. */
      list: z.string().optional(),
      where: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
  create: z
    .strictObject({
      method: z.enum(['POST', 'PUT']).default('POST'),
      url: z.string(),
      body: z.json(),
      /** The path in the answer of what was created; the answer itself by default. */
      answer: z.string().default(''),
    })
    .optional(),
  /** Without `create`: what a person has to do. */
  by_hand: z.string().optional(),
  /** Values for `with` in the destination's document: fixed, or from what was found or created. */
  gives: z
    .record(z.string(), z.union([z.string(), z.strictObject({ path: z.string(), without: z.string().optional() })]))
    .default({}),
});
export type PrepareStep = z.infer<typeof prepareStepSchema>;
