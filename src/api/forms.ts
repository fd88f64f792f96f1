import { z } from 'zod';
import { documentNameForm } from '../terms.ts';
import { anyJson, instant } from './route.ts';

/** Schemas that several routes share. */

export const documentName = z.string().regex(documentNameForm);
export const connectorText = z
  .string()
  .max(1024 * 1024)
  .describe('The connector’s document, as text.');
/** Whole numbers whose names say what they count. */
export const counts = <Name extends string>(...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, z.int()])) as { [_ in Name]: z.ZodInt };
/** A short list, on one page. */
export const itemsOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.object({ items: z.array(z.object(shape)) });
export const entityType = z.enum(['reservation', 'guest']);

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

export const note = z.object({
  step: z.enum(['shape', 'normalize', 'transform', 'reconcile']),
  field: z.string().describe('Canonical path, such as guests[0].phone.'),
  code: z.string(),
  reason: z.string(),
  before: anyJson.optional(),
  after: anyJson.optional(),
});

export const difference = z.object({ path: z.string(), before: anyJson.optional(), after: anyJson.optional() });

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
    notes: z.array(note).optional(),
    origins: z.record(z.string(), z.string()).optional(),
    raw: anyJson.optional(),
    diff: z.array(difference).optional(),
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

export const attempt = z.object({
  version: z.int(),
  attempt: z.int(),
  at: z.string(),
  outcome: z.string(),
  code: z.string().nullable(),
  status: z.int().nullable(),
  message: z.string().nullable(),
  duration_ms: z.int().nullable(),
  node: z.string().nullable(),
});

export const replayPreview = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('ready'),
    record: z.object({ type: entityType, id: z.string() }),
    before: anyJson.optional(),
    after: anyJson,
    diff: z.array(difference),
  }),
  z.object({ kind: z.literal('dropped'), reason: z.string() }),
  z.object({ kind: z.literal('still_failing'), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal('gone'), message: z.string() }),
]);

const sandboxOutcome = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('record'),
    type: entityType,
    record: anyJson,
    notes: z.array(note),
    effect: z.string().optional().describe('The other effects of live processing.'),
  }),
  z.object({ kind: z.literal('dead_letter'), code: z.string(), message: z.string(), detail: anyJson }),
  z.object({ kind: z.literal('dropped'), reason: z.string() }),
  z.object({
    kind: z.literal('fetched_first'),
    reservation_id: z.string().optional(),
    guest_id: z.string().optional(),
  }),
  z.object({ kind: z.literal('ignored'), reason: z.string() }),
  z.object({ kind: z.literal('none'), reason: z.string() }),
]);

/** The sandbox's report on one request. */
export const sandboxReport = z.object({
  report_id: z.string(),
  at: z.string(),
  event_id: z.string(),
  event: z.string().optional(),
  would_answer: z.object({ status: z.int(), code: z.string().optional(), detail: z.string() }),
  signature: z.object({
    right: z.boolean(),
    reason: z.string().optional(),
    part: z.enum(['time', 'body', 'secret', 'encoding', 'method', 'missing']).optional().describe('What is wrong.'),
    explanation: z.string().optional(),
    skew_s: z.number().optional(),
  }),
  answered: z.int().optional().describe('What the brand’s own address answered in a rehearsal.'),
  body: z.object({ bytes: z.int(), problem: z.string().optional() }),
  envelope: z.array(z.object({ pointer: z.string(), detail: z.string() })),
  outcome: sandboxOutcome,
  events: z
    .array(z.object({ event_id: z.string(), event: z.string(), outcome: sandboxOutcome }))
    .optional()
    .describe('When one body holds several events: each of them.'),
});
