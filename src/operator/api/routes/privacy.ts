import { z } from 'zod';
import { eraseGuest, findReceipts, previewErasure, readReceipt, receiptOf } from '../../operations/erase-guest.ts';
import { exportGuest } from '../../operations/export-guest.ts';
import { eraseRequest } from '../../operations/guest-request.ts';
import { listErasures, stopErasure } from '../../store/erasure/erasures.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { admin, anyJson, instant, type Node, notFound, ok, okIfFound, problem, type Route } from '../route.ts';

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
    .describe('Where it searches, or stopped; null before the records are rewritten, and at the end.'),
  stopped_at: instant.nullable(),
  stopped_by: z.string().nullable(),
  requested_at: instant,
  completed_at: instant.nullable().describe('When the guest was completely removed from the store.'),
  confirmed_at: instant.nullable().describe('When the last destination confirmed it; null until all have.'),
  requested_by: z.string(),
  subject: z.string().describe('A keyed hash of the guest.'),
  removed: z.record(z.string(), z.int()).describe('How many rows were emptied or removed, by place.'),
  notified: z.array(
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

export function privacyRoutes({ runtime }: Node): Route[] {
  return [
    admin('POST /privacy/erasures', {
      id: 'privacy.erase',
      summary: 'Erase a guest everywhere, permanently',
      description:
        'Erases the guest from records, their versions, raw payloads, events, dead letters and queued deliveries, and notifies destinations. A keyed hash prevents the next poll from storing the guest again.',
      status: 201,
      body: eraseRequest,
      response: receipt,
      handle: async ({ body, caller }) => ok(await eraseGuest(runtime, body, caller.name)),
    }),
    admin('POST /privacy/erasures/preview', {
      id: 'privacy.preview',
      asks: true,
      summary: 'What an erasure would remove; changes nothing',
      body: eraseRequest,
      response: z.object({
        removed: receipt.shape.removed,
        records: z.array(z.object({ integration: z.string(), type: z.string(), id: z.string() })),
        notified: receipt.shape.notified,
      }),
      handle: async ({ body }) => ok(await previewErasure(runtime, body)),
    }),
    admin('POST /privacy/exports', {
      id: 'privacy.export',
      payload: true,
      summary: 'Everything held on a person, for an access request',
      description:
        'Records with all their versions, the parts of received payloads that name the person, and the destinations that received them. Other guests of the same bookings are left out. The request is audited.',
      body: eraseRequest,
      response: z.object({
        records: z.array(anyJson),
        payloads: z.array(z.object({ place: z.string(), key: z.string(), parts: z.array(anyJson) })),
        delivered: z.array(anyJson),
      }),
      handle: async ({ body }) => ok(await exportGuest(runtime, body)),
    }),
    admin('GET /privacy/erasures', {
      id: 'privacy.list',
      summary: 'Erasure receipts, newest first',
      query: z.strictObject(pageQuery),
      response: pageOf(receipt),
      handle: async ({ query: { cursor, limit } }) => {
        const rows = (await listErasures(runtime.pool, { before: beforeOf(cursor), limit: limit + 1 })).map(receiptOf);
        return ok(paged(rows, limit, ({ requested_at, erasure_id }) => [requested_at.toISOString(), erasure_id]));
      },
    }),
    admin('POST /privacy/erasures/find', {
      id: 'privacy.find',
      asks: true,
      summary: 'The receipts of one guest: was this address erased, and when?',
      description:
        'A POST, so that the address appears in no log. It is compared as a keyed hash; use the same keys as in the erasure request.',
      body: eraseRequest,
      response: z.object({ items: z.array(receipt) }),
      handle: async ({ body }) => ok({ items: await findReceipts(runtime, body) }),
    }),
    admin('GET /privacy/erasures/{erasure_id}', {
      id: 'privacy.get',
      summary: 'One receipt',
      response: receipt,
      handle: async ({ params: { erasure_id: id } }) => okIfFound(await readReceipt(runtime, id), `erasure ${id}`),
    }),
    admin('POST /privacy/erasures/{erasure_id}/stop', {
      id: 'privacy.stop',
      summary: 'Stop an erasure that is running',
      description:
        'What is erased stays erased, and destinations are notified of it. Stopped before the records are rewritten, it has erased nothing. Stopped later, payloads that were not searched yet may still name the guest: `progress` says how far it came.',
      response: receipt,
      handle: async ({ params, caller }) => {
        const proof = await readReceipt(runtime, params.erasure_id);
        if (proof === undefined) return notFound(`erasure ${params.erasure_id}`);
        if (proof.state !== 'running' || !(await stopErasure(runtime.pool, params.erasure_id, caller.name))) {
          return problem(409, 'operate.conflict', `The erasure no longer runs: it is ${proof.state}.`);
        }
        return ok((await readReceipt(runtime, params.erasure_id)) ?? proof);
      },
    }),
  ];
}
