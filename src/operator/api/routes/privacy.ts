import { z } from 'zod';
import { eraseGuest, findReceipts, previewErasure, readReceipt, receiptOf } from '../../operations/erase-guest.ts';
import { exportGuest } from '../../operations/export-guest.ts';
import { eraseRequest } from '../../operations/guest-request.ts';
import { anyJson } from '../../store/answers.ts';
import { listErasures, receiptSchema, stopErasure } from '../../store/erasure/erasures.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { admin, type Node, notFound, ok, okIfFound, problem, type Route } from '../route.ts';

export function privacyRoutes({ runtime }: Node): Route[] {
  return [
    admin('POST /privacy/erasures', {
      id: 'privacy.erase',
      summary: 'Erase a guest everywhere, permanently',
      description:
        'Erases the guest from records, their versions, raw payloads, events, dead letters and queued deliveries, and notifies destinations. A keyed hash prevents the next poll from storing the guest again.',
      status: 201,
      body: eraseRequest,
      response: receiptSchema,
      handle: async ({ body, caller }) => ok(await eraseGuest(runtime, body, caller.name)),
    }),
    admin('POST /privacy/erasures/preview', {
      id: 'privacy.preview',
      asks: true,
      summary: 'What an erasure would remove; changes nothing',
      body: eraseRequest,
      response: z.object({
        removed: receiptSchema.shape.removed,
        records: z.array(z.object({ integration: z.string(), type: z.string(), id: z.string() })),
        notified: receiptSchema.shape.notified,
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
      response: pageOf(receiptSchema),
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
      response: z.object({ items: z.array(receiptSchema) }),
      handle: async ({ body }) => ok({ items: await findReceipts(runtime, body) }),
    }),
    admin('GET /privacy/erasures/{erasure_id}', {
      id: 'privacy.get',
      summary: 'One receipt',
      response: receiptSchema,
      handle: async ({ params: { erasure_id: id } }) => okIfFound(await readReceipt(runtime, id), `erasure ${id}`),
    }),
    admin('POST /privacy/erasures/{erasure_id}/stop', {
      id: 'privacy.stop',
      summary: 'Stop an erasure that is running',
      description:
        'What is erased stays erased, and destinations are notified of it. Stopped before the records are rewritten, it has erased nothing. Stopped later, payloads that were not searched yet may still name the guest: `progress` says how far it came.',
      response: receiptSchema,
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
