import { z } from 'zod';
import { type ErrorCode, errors } from '../../errors.ts';
import type { Json, JsonObject } from '../../terms.ts';

/** An answer of the service's API: its body, or the problem document of a refusal. */
export type CallResult = { readonly ok: true; readonly body: Json } | { readonly ok: false; readonly problem: Json };

/** The API with the caller's own token: roles, brands, masking and audit are decided there, and nowhere else. */
export interface Api {
  readonly get: (path: string, query?: Readonly<Record<string, string | number | undefined>>) => Promise<CallResult>;
  readonly post: (path: string, body: Json) => Promise<CallResult>;
}

interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** Changes something; offered only with `--write`. */
  readonly writes?: true;
  readonly call: (api: Api, input: z.infer<Input>) => Promise<CallResult>;
}

function tool<Input extends z.ZodObject>(made: Tool<Input>): Tool {
  return made as unknown as Tool;
}

const integration = z.string().describe('The name of the integration, as in its document.');
const sample = z.string().min(1).describe('What the partner sent, as JSON text.');
const under = (name: string, id: string) =>
  `/integrations/${encodeURIComponent(name)}/reservations/${encodeURIComponent(id)}`;

export const tools: readonly Tool[] = [
  tool({
    name: 'health',
    description: 'Whether reservations flow: rates, runs, backlogs and open alerts, for all integrations or one.',
    input: z.object({ integration: integration.optional() }),
    call: async (api, { integration }) =>
      joined({
        overview: await api.get('/overview', { integration }),
        alerts: await api.get('/incidents', { state: 'open', limit: 50 }),
      }),
  }),
  tool({
    name: 'explain_error',
    description: 'What an error code of Innbound means, whether it is retried, and what to do next.',
    input: z.object({ code: z.string().describe('Such as deliver.rejected.') }),
    call: async (_api, { code }) =>
      Object.hasOwn(errors, code)
        ? { ok: true, body: { code, stage: code.split('.', 1)[0] ?? '', ...errors[code as ErrorCode] } }
        : { ok: false, problem: { detail: `${code} is not an error code of Innbound.` } },
  }),
  tool({
    name: 'find_reservations',
    description: 'Search reservations by id, confirmation number or guest.',
    input: z.object({
      q: z.string().min(1).describe('An id, a confirmation number, a name or an e-mail address.'),
      integration: integration.optional(),
    }),
    call: (api, { q, integration }) => api.get('/reservations', { q, integration, limit: 20 }),
  }),
  tool({
    name: 'why_is_booking_missing',
    description:
      'The timeline of a booking from receipt to each destination, with its dead letters: where it stopped, and why. Works for bookings that were never stored.',
    input: z.object({ integration, id: z.string().min(1).describe('The partner’s id of the reservation.') }),
    call: async (api, { integration, id }) => {
      const timeline = await api.get(under(integration, id), { limit: 50 });
      const letters = await api.get('/dead-letters', { integration, record_id: id, state: 'open', limit: 20 });
      if (timeline.ok) return joined({ timeline, dead_letters: letters });
      return joined({
        stored: { ok: true, body: false },
        dead_letters: letters,
        runs: await api.get('/runs', { integration, limit: 10 }),
      });
    },
  }),
  tool({
    name: 'dead_letters_by_reason',
    description: 'Open dead letters by their reason: how many records, since when, the newest, and what to do.',
    input: z.object({
      integration: integration.optional(),
      destination: z.string().optional().describe('The name of a destination: only its letters.'),
    }),
    call: async (api, filter) => {
      const counted = await api.get('/dead-letter-reasons', { ...filter, state: 'open' });
      if (!counted.ok) return counted;
      const { items } = counted.body as unknown as { readonly items: readonly (JsonObject & { code: ErrorCode })[] };
      return { ok: true, body: { reasons: items.map((one) => ({ ...one, next: errors[one.code]?.next ?? '' })) } };
    },
  }),
  tool({
    name: 'validate_document',
    description:
      'Check the YAML of a connector, an integration or a destination; every mistake with line and column. Changes nothing.',
    input: z.object({
      kind: z.enum(['connector', 'integration', 'destination']).describe('What the document describes.'),
      name: z.string().min(1).describe('The name of the document, which is also the name of its file.'),
      text: z.string().min(1).describe('The whole document, as YAML.'),
    }),
    call: (api, input) => api.post('/documents/validate', input),
  }),
  tool({
    name: 'preview_mapping',
    description:
      'Map a sample of a partner’s response by a connector to canonical records, with notes. Stores nothing.',
    input: z.object({
      connector: z.string().min(1).describe('The name of a connector, or a whole connector as YAML.'),
      sample,
      push: z.boolean().optional().describe('The sample is an event, not a response.'),
      integration: integration.optional().describe('Use the time zone, country and rules of this integration.'),
      timezone: z.string().optional().describe('Without an integration: such as Europe/Lisbon. Default: UTC.'),
      country: z.string().optional().describe('Without an integration: such as PT, for local phone numbers.'),
    }),
    call: (api, input) => api.post('/map/preview', input as Json),
  }),
  tool({
    name: 'suggest_mapping',
    description: 'Suggest a connector from a sample of a partner’s response, with a reason for each line.',
    input: z.object({ sample, name: z.string().min(1).describe('The name of the new connector.') }),
    call: (api, input) => api.post('/map/suggest', input),
  }),
  tool({
    name: 'replay_dead_letter',
    description: 'Replay one dead letter: a delivery unchanged, an event or record with the current documents.',
    input: z.object({ id: z.string().regex(/^\d+$/).describe('The number of the dead letter.') }),
    writes: true,
    call: (api, { id }) => api.post(`/dead-letters/${id}/replay`, {}),
  }),
];

/** One body from several answers; a refused part is there with its problem. */
function joined(parts: Readonly<Record<string, CallResult>>): CallResult {
  const bodies = Object.entries(parts).map(([name, part]) => [name, part.ok ? part.body : { refused: part.problem }]);
  const refused = Object.values(parts).find((part) => !part.ok);
  if (refused !== undefined && Object.values(parts).every((part) => !part.ok)) return refused;
  return { ok: true, body: Object.fromEntries(bodies) as Json };
}
