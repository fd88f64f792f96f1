import { z } from 'zod';
import { crossChecked } from './checked.ts';

/** A business rule: of one brand, or of all brands of a connector. */

const fieldPath = z.string().min(1);

export const ruleSchema = crossChecked(
  z.strictObject({
    when: z
      .string()
      .min(1)
      .optional()
      .describe('A CEL condition over the canonical record; without it, the rule always applies.'),
    set: z
      .record(fieldPath, z.string().min(1))
      .optional()
      .describe('Fields to set, each to the value of a CEL expression. `guests[].FIELD` sets it for each guest.'),
    drop: z
      .union([z.literal(true), z.array(fieldPath).min(1)], {
        error: 'must be true (the whole record) or a list of fields',
      })
      .optional()
      .describe(
        '`true` drops the record; a list drops these fields. `guests[]` drops the guests for which `when` holds; likewise `rooms[]` and `charges[]`.',
      ),
    note: z.string().min(1).optional().describe('The reason, for the timeline.'),
  }),
  ({ set, drop }, report) => {
    if (set === undefined && drop === undefined) report({ message: 'does nothing: needs set or drop' });
  },
);
