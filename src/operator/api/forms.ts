import { z } from 'zod';
import { differenceSchema, noteSchema } from '../../core/canonical/schema.ts';
import { documentNameForm } from '../../terms.ts';
import { anyJson, instant } from '../store/answers.ts';

/** Schemas that several routes share. */

export const documentName = z.string().regex(documentNameForm);
export const connectorText = z
  .string()
  .max(1024 * 1024)
  .describe('The connector’s document, as text.');
/** A short list, on one page. */
export const itemsOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ items: z.array(z.object(shape)) });

/** Who a person is, for an operator's decision. */
export const person = z.object({
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  guest_id: z.string().optional(),
  date_of_birth: z.string().optional(),
  nationality: z.string().optional(),
  marketing_consent: z.boolean().optional(),
});

/** What an operator changed, as lists show it. */
export const operatorAction = z.object({
  at: instant,
  actor: z.string(),
  action: z.string(),
  integration: z.string().nullable(),
  what: z.string(),
});

/** Null columns are left out. */
export const timelineEntry = z.discriminatedUnion('what', [
  z.object({
    what: z.literal('received'),
    at: instant,
    outcome: z.string(),
    version: z.int().optional(),
    reason: z.string().optional(),
    effective_at: instant.optional(),
    cause: z.string(),
    cause_id: z.string().optional(),
    connector_version: z.int().optional(),
    integration_version: z.int().optional(),
    notes: z.array(noteSchema).optional(),
    origins: z.record(z.string(), z.string()).optional(),
    raw: anyJson.optional(),
    diff: z.array(differenceSchema).optional(),
    idempotency_key: z.string().optional(),
  }),
  z.object({
    what: z.literal('delivery'),
    at: instant,
    destination: z.string(),
    version: z.int(),
    attempt: z.int(),
    outcome: z.string(),
    code: z.string().optional(),
    status: z.int().optional(),
    message: z.string().optional(),
    duration_ms: z.int().optional(),
  }),
  z.object({
    what: z.literal('dead_letter'),
    at: instant,
    dead_letter_id: z.string(),
    kind: z.string(),
    destination: z.string().optional(),
    version: z.int().optional(),
    code: z.string(),
    message: z.string(),
    times: z.int(),
    last_at: instant,
    state: z.string(),
    closed_at: instant.optional(),
    closed_reason: z.string().optional(),
    answer: z.string().optional().describe('The beginning of the destination’s answer.'),
  }),
  z.object({ what: z.literal('seen_unchanged'), at: instant, times: z.int() }),
]);
