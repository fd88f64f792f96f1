import { z } from 'zod';
import type { Mistake } from '../../documents/mistake.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Json } from '../../terms.ts';
import { note } from '../forms.ts';
import { anyJson, ok, problem, type Route, route } from '../route.ts';

export interface StudioPorts {
  readonly preview: (asked: {
    readonly connector: string;
    readonly sample: string;
    readonly integration: string | undefined;
    readonly push: boolean;
    readonly limit: number;
  }) => Promise<Previewed>;
  readonly suggest: (
    sample: string,
    name: string,
  ) => Promise<
    | {
        readonly kind: 'ok';
        readonly connector: string;
        readonly fields: Json;
        readonly unmapped: readonly string[];
        readonly unknown: readonly string[];
      }
    | { readonly kind: 'nothing'; readonly message: string }
  >;
  /** One page as the partner gives it now, through the brand's own credentials and protections. */
  readonly fetchPage: (integration: string) => Promise<
    | {
        readonly kind: 'page';
        readonly sample: string;
        readonly window: { readonly from: string; readonly to: string };
      }
    | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  >;
}

export interface Previewed {
  readonly mistakes: readonly Mistake[];
  /** Why the sample could not be read as a list. */
  readonly problem?: { readonly code: ErrorCode; readonly message: string };
  readonly total: number;
  readonly records: readonly Json[];
}

const sample = z
  .string()
  .min(1)
  .max(4 * 1024 * 1024)
  .describe('A response of the partner (or an event), as JSON text.');

/** What the mapping studio works with. Nothing of it is stored. */
export function studioRoutes(ports: StudioPorts): Route[] {
  return [
    route({
      method: 'POST',
      path: '/map/preview',
      id: 'map.preview',
      asks: true,
      summary: 'What a connector makes of a sample: canonical records, origins, notes, what was left',
      tag: 'mapping',
      role: 'viewer',
      scope: 'any',
      body: z.strictObject({
        connector: z
          .string()
          .max(1024 * 1024)
          .describe('The connector’s document, as text.'),
        sample,
        integration: z.string().optional().describe('Map as this brand would: its time zone, country and rules.'),
        push: z.boolean().default(false).describe('The sample is an event.'),
        limit: z.int().min(1).max(100).default(20),
      }),
      response: z.object({
        mistakes: z.array(z.looseObject({ line: z.int(), column: z.int(), path: z.string(), message: z.string() })),
        problem: z.object({ code: z.string(), message: z.string() }).optional(),
        total: z.int(),
        records: z.array(
          z.looseObject({
            kind: z.enum(['record', 'dropped', 'dead']),
            id: z.string().optional(),
            record: anyJson.optional(),
            notes: z.array(note).optional(),
            origins: z.record(z.string(), z.string()).optional(),
            unmapped: z.array(z.string()).optional(),
            code: z.string().optional(),
            message: z.string().optional(),
          }),
        ),
      }),
      handle: async ({ body, within }) => {
        const { integration, connector, push, limit } = body;
        if (integration !== undefined && within !== undefined && !within.includes(integration)) {
          return problem(404, 'operate.not_found', `There is no integration ${integration}.`);
        }
        return ok(await ports.preview({ connector, sample: body.sample, integration, push, limit }));
      },
    }),
    route({
      method: 'POST',
      path: '/map/suggest',
      id: 'map.suggest',
      asks: true,
      summary: 'A first connector for a sample, to be read and corrected',
      tag: 'mapping',
      role: 'viewer',
      scope: 'any',
      body: z.strictObject({
        sample,
        name: z
          .string()
          .regex(/^[a-z0-9][a-z0-9-]{0,60}$/)
          .default('new-connector'),
      }),
      response: z.object({
        connector: z.string().describe('The proposed document, as text, with the reason of each line.'),
        fields: z.array(anyJson).describe('How sure each guess is, and why.'),
        unmapped: z.array(z.string()).describe('Places of the sample that nothing was made of.'),
        unknown: z.array(z.string()).describe('Spellings of a status that no value map knows.'),
      }),
      handle: async ({ body }) => {
        const made = await ports.suggest(body.sample, body.name);
        if (made.kind === 'nothing') return problem(422, 'operate.invalid_input', made.message);
        const { kind: _, ...proposal } = made;
        return ok(proposal);
      },
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/sample',
      id: 'map.fetch',
      summary: 'Fetch one page from the partner, to map by',
      tag: 'mapping',
      role: 'operator',
      scope: 'param',
      payload: true,
      params: z.strictObject({ integration: z.string().max(200) }),
      body: z.strictObject({}),
      response: z.object({ sample: z.string(), window: z.object({ from: z.string(), to: z.string() }) }),
      handle: async ({ params }) => {
        const fetched = await ports.fetchPage(params.integration);
        if (fetched.kind === 'failed') return problem(409, fetched.code, fetched.message);
        return ok({ sample: fetched.sample, window: fetched.window });
      },
    }),
  ];
}
