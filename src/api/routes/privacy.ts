import { z } from 'zod';
import type { Told } from '../../store/erasure/erasures.ts';
import { instant, notFound, ok, problem, type Route, route } from '../route.ts';

/** Whom to erase. Several may be given: what matches any of them is the guest. */
export interface EraseRequest {
  readonly email?: string;
  readonly phone?: string;
  readonly guest_id?: string;
  /** Only this brand; a guest_id means somebody only inside one. */
  readonly integration?: string;
}

export interface ErasureReceipt {
  readonly erasure_id: string;
  readonly requested_at: Date;
  readonly completed_at: Date | null;
  /** When the last destination had confirmed it. */
  readonly confirmed_at: Date | null;
  readonly requested_by: string;
  /** A keyed hash: whoever asks again for the same guest finds it, nobody can read it. */
  readonly subject: string;
  readonly removed: { readonly [where: string]: number };
  readonly told: readonly Told[];
}

export interface PrivacyPorts {
  readonly erase: (
    request: EraseRequest,
    by: string,
  ) => Promise<
    | { readonly kind: 'erased'; readonly receipt: ErasureReceipt }
    | { readonly kind: 'invalid'; readonly message: string }
  >;
  readonly list: () => Promise<readonly ErasureReceipt[]>;
  /** The receipts of one guest: asked for in the same words as the erasure was. */
  readonly find: (
    request: EraseRequest,
  ) => Promise<
    | { readonly kind: 'found'; readonly receipts: readonly ErasureReceipt[] }
    | { readonly kind: 'invalid'; readonly message: string }
  >;
  readonly read: (erasureId: string) => Promise<ErasureReceipt | undefined>;
}

const receipt = z.object({
  erasure_id: z.string(),
  requested_at: instant,
  completed_at: instant.nullable().describe('When nothing of the guest was left with us.'),
  confirmed_at: instant.nullable().describe('When the last destination had confirmed it; null as long as one has not.'),
  requested_by: z.string(),
  subject: z.string().describe('A keyed hash of whom it was about.'),
  removed: z.record(z.string(), z.int()).describe('How many rows were emptied or removed, by where they were.'),
  told: z.array(
    z.object({
      integration: z.string(),
      destination: z.string(),
      records: z.int().describe('How many it is told of.'),
      confirmed: z.int().describe('How many of them it has taken.'),
      passed_over: z.int().describe('How many of them it does not receive, as its filter says.'),
      confirmed_at: instant.nullable(),
    }),
  ),
});

const whom = z.strictObject({
  email: z.string().max(320).optional(),
  phone: z.string().max(40).optional(),
  guest_id: z.string().max(200).optional(),
  integration: z.string().optional(),
});

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
      summary: 'Erase a guest everywhere, for good',
      description:
        'From records, their versions, raw payloads, events, dead letters and queued deliveries; destinations are told. A keyed hash keeps the guest from coming back with the next poll.',
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
      method: 'GET',
      path: '/privacy/erasures',
      id: 'privacy.list',
      summary: 'Receipts of erasures, the newest first',
      response: z.object({ items: z.array(receipt) }),
      handle: async () => ok({ items: await ports.list() }),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/privacy/erasures/find',
      id: 'privacy.find',
      asks: true,
      summary: 'The receipts of one guest: was this address erased, and when?',
      description:
        'Asked by POST so that the address stands in no log. It is compared as a keyed hash; name what the erasure named.',
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
      params: z.strictObject({ erasure_id: z.string().max(100) }),
      response: receipt,
      handle: async ({ params }) => {
        const found = await ports.read(params.erasure_id);
        return found ? ok(found) : notFound(`erasure ${params.erasure_id}`);
      },
    }),
  ];
}
