import { z } from 'zod';
import { instant } from '../route.ts';

/** What an operator changed, as lists show it. */
export const operatorAction = z.object({
  at: instant,
  actor: z.string(),
  action: z.string(),
  integration: z.string().nullable(),
  what: z.string(),
});
