import { z } from 'zod';
import { longestId } from '../../canonical/limits.ts';
import type { ProfileDecision } from '../../operations/edit-profiles.ts';
import type { MergeCandidate } from '../../operations/merge-candidates.ts';
import type { SharedAddress } from '../../operations/shared-addresses.ts';
import type { Stay } from '../../store/records/profile-bookings.ts';
import type { ProfileEdit } from '../../store/records/profile-edit.ts';
import { person } from '../forms.ts';
import { instant, integrationParam, notFound, ok, problem, type Result, type Route, route } from '../route.ts';

export interface ProfilePorts {
  readonly edit: (integration: string, decision: ProfileDecision) => Promise<ProfileEdit>;
  readonly pairs: (integration: string, limit: number) => Promise<readonly MergeCandidate[]>;
  readonly notSame: (integration: string, id: string, other: string) => Promise<boolean>;
  readonly shared: (integration: string) => Promise<readonly SharedAddress[]>;
  readonly stays: (integration: string, id: string, limit: number) => Promise<readonly Stay[]>;
}

const params = z.strictObject({ integration: z.string().max(200), id: z.string().min(1).max(longestId) });
const edited = z.object({
  profiles: z.array(z.object({ id: z.string(), version: z.int() })).describe('The profiles that changed.'),
});

const anotherId = z.string().min(1).max(longestId);
const pair = z.object({
  evidence: z.enum(['shared_address', 'other_last_name']),
  reason: z.string().describe('The evidence in words.'),
  found_at: instant,
  profiles: z
    .array(z.object({ id: z.string(), bookings: z.int(), person }))
    .length(2)
    .describe('The one with more bookings first.'),
});
const shared = z.object({
  email: z.string().optional(),
  phone: z.string().optional(),
  persons: z.int().describe('Profiles that have it.'),
  bookings: z.int().describe('Reservations with a guest who has it.'),
});
const stay = z.object({ id: z.string(), check_in: z.string(), check_out: z.string(), status: z.string() });

/** An operator's decisions about which profiles are one person. */
export function profileRoutes(ports: ProfilePorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/integrations/{integration}/guests/{id}/stays',
      id: 'guests.stays',
      summary: 'The reservations of one guest, the latest arrival first; up to 200',
      tag: 'guests',
      role: 'viewer',
      scope: 'param',
      params,
      response: z.object({ items: z.array(stay) }),
      handle: async ({ params: { integration, id } }) => ok({ items: await ports.stays(integration, id, 200) }),
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}/guest-pairs',
      id: 'guests.pairs',
      summary: 'Pairs of profiles that may be one person, those with the most bookings first',
      tag: 'guests',
      role: 'viewer',
      scope: 'param',
      payload: true,
      params: integrationParam,
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(50) }),
      response: z.object({ items: z.array(pair) }),
      handle: async ({ params: { integration }, query }) => ok({ items: await ports.pairs(integration, query.limit) }),
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/guests/{id}/not-same',
      id: 'guests.not_same',
      summary: 'Remember that a pair of profiles is two persons; the pair is not proposed again',
      tag: 'guests',
      role: 'operator',
      scope: 'param',
      params,
      body: z.strictObject({ as: anotherId.describe('The id of the other profile of the pair.') }),
      response: z.object({ remembered: z.literal(true) }),
      handle: async ({ params: { integration, id }, body }) =>
        (await ports.notSame(integration, id, body.as))
          ? ok({ remembered: true })
          : notFound(`undecided pair of ${id} and ${body.as} in ${integration}`),
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}/shared-addresses',
      id: 'guests.shared_addresses',
      summary: 'Addresses and numbers under which different persons are known: they identify nobody alone',
      description:
        'Computed from the profiles; an address leaves the list when its persons no longer differ. Up to 200.',
      tag: 'guests',
      role: 'viewer',
      scope: 'param',
      payload: true,
      params: integrationParam,
      response: z.object({ items: z.array(shared) }),
      handle: async ({ params: { integration } }) => ok({ items: await ports.shared(integration) }),
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/guests/{id}/merge',
      id: 'guests.merge',
      summary: 'Merge a profile into another: the same person',
      description: 'The other profile keeps its values and gets those that it lacks. From then on both ids lead to it.',
      tag: 'guests',
      role: 'operator',
      scope: 'param',
      params,
      body: z.strictObject({ into: z.string().min(1).max(longestId).describe('The id of the profile that stays.') }),
      response: edited,
      handle: async ({ params: { integration, id }, body: { into } }) =>
        answer(await ports.edit(integration, { kind: 'merge', id, into })),
    }),
    route({
      method: 'POST',
      path: '/integrations/{integration}/guests/{id}/split',
      id: 'guests.split',
      summary: 'Split a profile that two people share, or undo a merge',
      tag: 'guests',
      role: 'operator',
      scope: 'param',
      params,
      body: z.union([
        z.strictObject({
          fields: z
            .array(z.enum(['guest_id', 'email', 'phone']))
            .min(1)
            .describe('What belongs to the other person, who gets a new profile.'),
        }),
        z.strictObject({
          merged: z.string().min(1).max(longestId).describe('The id of a profile that was merged into this one.'),
        }),
      ]),
      response: edited,
      handle: async ({ params: { integration, id }, body }) =>
        answer(
          await ports.edit(
            integration,
            'fields' in body
              ? { kind: 'split', id, fields: body.fields }
              : { kind: 'separate', id, merged: body.merged },
          ),
        ),
    }),
  ];
}

function answer(done: ProfileEdit): Result {
  if (done.kind === 'missing') return notFound(`guest ${done.id}`);
  if (done.kind === 'refused') return problem(409, 'operate.profile_not_editable', done.reason);
  return ok({ profiles: done.profiles });
}
