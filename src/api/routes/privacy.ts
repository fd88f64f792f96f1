import { z } from 'zod';
import { longestId } from '../../canonical/limits.ts';
import type { ErasurePreview, ErasureReceipt } from '../../operations/erase-guest.ts';
import type { EraseRequest } from '../../operations/guest-request.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { anyJson, instant, notFound, ok, problem, type Route, route } from '../route.ts';

type Invalid = { readonly kind: 'invalid'; readonly message: string };

export interface PrivacyPorts {
  readonly preview: (
    request: EraseRequest,
  ) => Promise<{ readonly kind: 'preview'; readonly preview: ErasurePreview } | Invalid>;
  /** Everything held on a person, for an access request. */
  readonly export: (request: EraseRequest) => Promise<{ readonly kind: 'export'; readonly export: object } | Invalid>;
  readonly erase: (
    request: EraseRequest,
    by: string,
  ) => Promise<
    | { readonly kind: 'erased'; readonly receipt: ErasureReceipt }
    | { readonly kind: 'invalid'; readonly message: string }
  >;
  readonly list: (page: {
    readonly before: { readonly at: string; readonly id: string } | undefined;
    readonly limit: number;
  }) => Promise<readonly ErasureReceipt[]>;
  /** The receipts of one guest, found by the same keys as in the erasure request. */
  readonly find: (
    request: EraseRequest,
  ) => Promise<
    | { readonly kind: 'found'; readonly receipts: readonly ErasureReceipt[] }
    | { readonly kind: 'invalid'; readonly message: string }
  >;
  readonly read: (erasureId: string) => Promise<ErasureReceipt | undefined>;
  /** False if it no longer runs. */
  readonly stop: (erasureId: string, by: string) => Promise<boolean>;
}

const receipt = z.object({
  erasure_id: z.string(),
  state: z
    .enum(['running', 'stopped', 'interrupted', 'notifying', 'done'])
    .describe(
      '`notifying`: destinations have not confirmed it yet. `interrupted`: its process ended first; erase again.',
    ),
  progress: z
    .object({ place: z.string(), done: z.int(), of: z.int() })
    .nullable()
    .describe('Where it searches, or stopped; null before the records are rewritten.'),
  stopped_at: instant.nullable(),
  stopped_by: z.string().nullable(),
  requested_at: instant,
  completed_at: instant.nullable().describe('When the guest was completely removed from the store.'),
  confirmed_at: instant.nullable().describe('When the last destination confirmed it; null until all have.'),
  requested_by: z.string(),
  subject: z.string().describe('A keyed hash of the guest.'),
  removed: z.record(z.string(), z.int()).describe('How many rows were emptied or removed, by place.'),
  told: z.array(
    z.object({
      integration: z.string(),
      destination: z.string(),
      records: z.int().describe('How many erasures are sent to it.'),
      confirmed: z.int().describe('How many of them it has confirmed.'),
      passed_over: z.int().describe('How many of them its filter excludes.'),
      dropped: z.int().describe('How many of them an operator dropped: the destination may still hold the guest.'),
      not_notified: z
        .int()
        .describe(
          'How many further records of the guest it received before it was taken out of `deliver` or no longer received their type. It is not notified of these: erase the guest there by hand. The receipt stays open.',
        ),
      given_up: z
        .int()
        .describe(
          'How many of them it had not confirmed when what the guest was known by was deleted, after `retention.raw`: erase the guest there by hand. The receipt stays open.',
        ),
      confirmed_at: instant.nullable(),
    }),
  ),
});

const whom = z.strictObject({
  email: z.string().max(320).optional(),
  phone: z.string().max(40).optional(),
  guest_id: z.string().max(longestId).optional(),
  integration: z.string().optional(),
});

const idParam = z.strictObject({ erasure_id: z.string().max(100) });

function asked({ email, phone, guest_id, integration }: z.infer<typeof whom>): EraseRequest {
  return {
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(guest_id !== undefined && { guest_id }),
    ...(integration !== undefined && { integration }),
  };
}

export function privacyRoutes(ports: PrivacyPorts): Route[] {
  const common = { tag: 'privacy', role: 'admin', scope: 'all' } as const;
  return [
    route({
      ...common,
      method: 'POST',
      path: '/privacy/erasures',
      id: 'privacy.erase',
      summary: 'Erase a guest everywhere, permanently',
      description:
        'Erases the guest from records, their versions, raw payloads, events, dead letters and queued deliveries, and notifies destinations. A keyed hash prevents the next poll from storing the guest again.',
      status: 201,
      body: whom,
      response: receipt,
      handle: async ({ body, caller }) => {
        const erased = await ports.erase(asked(body), caller.name);
        if (erased.kind === 'invalid') return problem(422, 'operate.invalid_input', erased.message);
        return ok(erased.receipt);
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/privacy/erasures/preview',
      id: 'privacy.preview',
      asks: true,
      summary: 'What an erasure would remove; changes nothing',
      body: whom,
      response: z.object({
        removed: receipt.shape.removed,
        records: z.array(z.object({ integration: z.string(), type: z.string(), id: z.string() })),
        told: receipt.shape.told,
      }),
      handle: async ({ body }) => {
        const found = await ports.preview(asked(body));
        if (found.kind === 'invalid') return problem(422, 'operate.invalid_input', found.message);
        return ok(found.preview);
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/privacy/exports',
      id: 'privacy.export',
      payload: true,
      summary: 'Everything held on a person, for an access request',
      description:
        'Records with all their versions, the parts of received payloads that name the person, and the destinations that received them. Other guests of the same bookings are left out. The request is audited.',
      body: whom,
      response: z.object({
        records: z.array(anyJson),
        payloads: z.array(z.object({ place: z.string(), key: z.string(), parts: z.array(anyJson) })),
        delivered: z.array(anyJson),
      }),
      handle: async ({ body }) => {
        const found = await ports.export(asked(body));
        if (found.kind === 'invalid') return problem(422, 'operate.invalid_input', found.message);
        return ok(found.export);
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/privacy/erasures',
      id: 'privacy.list',
      summary: 'Erasure receipts, newest first',
      query: z.strictObject(pageQuery),
      response: pageOf(receipt),
      handle: async ({ query: { cursor, limit } }) => {
        const rows = await ports.list({ before: beforeOf(cursor), limit: limit + 1 });
        return ok(paged(rows, limit, ({ requested_at, erasure_id }) => [requested_at.toISOString(), erasure_id]));
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/privacy/erasures/find',
      id: 'privacy.find',
      asks: true,
      summary: 'The receipts of one guest: was this address erased, and when?',
      description:
        'A POST, so that the address appears in no log. It is compared as a keyed hash; use the same keys as in the erasure request.',
      body: whom,
      response: z.object({ items: z.array(receipt) }),
      handle: async ({ body }) => {
        const found = await ports.find(asked(body));
        if (found.kind === 'invalid') return problem(422, 'operate.invalid_input', found.message);
        return ok({ items: found.receipts });
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/privacy/erasures/{erasure_id}',
      id: 'privacy.get',
      summary: 'One receipt',
      params: idParam,
      response: receipt,
      handle: async ({ params }) => {
        const found = await ports.read(params.erasure_id);
        return found ? ok(found) : notFound(`erasure ${params.erasure_id}`);
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/privacy/erasures/{erasure_id}/stop',
      id: 'privacy.stop',
      summary: 'Stop an erasure that is running',
      description:
        'What is erased stays erased, and destinations are notified of it. Stopped before the records are rewritten, it has erased nothing. Stopped later, payloads that were not searched yet may still name the guest: `progress` says how far it came.',
      params: idParam,
      body: z.strictObject({}),
      response: receipt,
      handle: async ({ params, caller }) => {
        const found = await ports.read(params.erasure_id);
        if (found === undefined) return notFound(`erasure ${params.erasure_id}`);
        if (found.state !== 'running' || !(await ports.stop(params.erasure_id, caller.name))) {
          return problem(409, 'operate.conflict', `The erasure no longer runs: it is ${found.state}.`);
        }
        return ok((await ports.read(params.erasure_id)) ?? found);
      },
    }),
  ];
}
