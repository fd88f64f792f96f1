import { z } from 'zod';
import { longestId } from '../../canonical/limits.ts';
import type { ProfileDecision } from '../../operations/edit-profiles.ts';
import type { ProfileEdit } from '../../store/records/profile-edit.ts';
import { notFound, ok, problem, type Result, type Route, route } from '../route.ts';

export interface ProfilePorts {
  readonly edit: (integration: string, decision: ProfileDecision) => Promise<ProfileEdit>;
}

const params = z.strictObject({ integration: z.string().max(200), id: z.string().min(1).max(longestId) });
const edited = z.object({
  profiles: z.array(z.object({ id: z.string(), version: z.int() })).describe('The profiles that changed.'),
});

/** An operator's decisions about which profiles are one person. */
export function profileRoutes(ports: ProfilePorts): Route[] {
  return [
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
