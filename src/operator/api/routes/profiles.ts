import { z } from 'zod';
import { longestId } from '../../../core/canonical/field-check.ts';
import { staysOf } from '../../../core/store/persons/profile-bookings.ts';
import type { ProfileEdit } from '../../../core/store/persons/profile-edit.ts';
import { editProfiles, mergeCandidates, notSamePerson, sharedAddresses } from '../../operations/profiles.ts';
import { instant } from '../../store/answers.ts';
import { person } from '../forms.ts';
import { type Node, notFound, ok, operator, problem, type Result, type Route, viewer } from '../route.ts';

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
export function profileRoutes({ runtime }: Node): Route[] {
  return [
    viewer('GET /integrations/{integration}/guests/{id}/stays', {
      id: 'guests.stays',
      summary: 'The reservations of one guest, the latest arrival first; up to 200',
      response: z.object({ items: z.array(stay) }),
      handle: async ({ params: { integration, id } }) =>
        ok({ items: await staysOf(runtime.pool, integration, id, 200) }),
    }),
    viewer('GET /integrations/{integration}/guest-pairs', {
      id: 'guests.pairs',
      summary: 'Pairs of profiles that may be one person, those with the most bookings first',
      payload: true,
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(100).default(50) }),
      response: z.object({ items: z.array(pair) }),
      handle: async ({ params: { integration }, query }) =>
        ok({ items: await mergeCandidates(runtime, integration, query.limit) }),
    }),
    operator('POST /integrations/{integration}/guests/{id}/not-same', {
      id: 'guests.not_same',
      summary: 'Remember that a pair of profiles is two persons; the pair is not proposed again',
      body: z.strictObject({ as: anotherId.describe('The id of the other profile of the pair.') }),
      response: z.object({ remembered: z.literal(true) }),
      handle: async ({ params: { integration, id }, body }) =>
        (await notSamePerson(runtime, integration, id, body.as))
          ? ok({ remembered: true })
          : notFound(`undecided pair of ${id} and ${body.as} in ${integration}`),
    }),
    viewer('GET /integrations/{integration}/shared-addresses', {
      id: 'guests.shared_addresses',
      summary: 'Addresses and numbers under which different persons are known: they identify nobody alone',
      description:
        'Computed from the profiles; an address leaves the list when its persons no longer differ. Up to 200.',
      payload: true,
      response: z.object({ items: z.array(shared) }),
      handle: async ({ params: { integration } }) => ok({ items: await sharedAddresses(runtime, integration) }),
    }),
    operator('POST /integrations/{integration}/guests/{id}/merge', {
      id: 'guests.merge',
      summary: 'Merge a profile into another: the same person',
      description: 'The other profile keeps its values and gets those that it lacks. From then on both ids lead to it.',
      body: z.strictObject({ into: z.string().min(1).max(longestId).describe('The id of the profile that stays.') }),
      response: edited,
      handle: async ({ params: { integration, id }, body: { into } }) =>
        answer(await editProfiles(runtime, integration, { kind: 'merge', id, into })),
    }),
    operator('POST /integrations/{integration}/guests/{id}/split', {
      id: 'guests.split',
      summary: 'Split a profile that two people share, or undo a merge',
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
          await editProfiles(
            runtime,
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
