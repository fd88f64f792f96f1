import { z } from 'zod';
import { longestId } from '../../canonical/limits.ts';
import type { Preview, ReplayResult, Under } from '../../deliver/replay.ts';
import type { Assignment, GuestCandidate } from '../../operations/assign-guest-event.ts';
import type { LetterAdvice } from '../../operations/letter-advice.ts';
import type { PersonPlace } from '../../reconcile/guest-update.ts';
import type {
  DeadLetter,
  DeadLetterFilter,
  DeadLetterReason,
  WholeDeadLetter,
} from '../../store/operate/dead-letters.ts';
import { attempt, entityType, person, replayPreview } from '../forms.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { anyJson, instant, notFound, ok, problem, type Route, route } from '../route.ts';

export interface DeadLetterPorts {
  readonly list: (filter: DeadLetterFilter) => Promise<readonly DeadLetter[]>;
  readonly count: (filter: DeadLetterFilter) => Promise<number>;
  readonly reasons: (filter: DeadLetterFilter) => Promise<readonly DeadLetterReason[]>;
  readonly show: (id: string) => Promise<(WholeDeadLetter & LetterAdvice) | undefined>;
  readonly integrationOf: (id: string) => Promise<string | undefined>;
  readonly preview: (letter: DeadLetter, under: Under | undefined) => Promise<Preview>;
  readonly replay: (
    letters: readonly DeadLetter[],
    under: Under | undefined,
    by: string,
  ) => Promise<readonly ReplayResult[]>;
  readonly candidates: (id: string) => Promise<readonly GuestCandidate[] | undefined>;
  readonly assign: (id: string, to: PersonPlace, by: string) => Promise<Assignment>;
  readonly drop: (id: string, by: string, reason: string) => Promise<boolean>;
}

const kinds = ['event', 'record', 'delivery'] as const;
const letter = z.object({
  id: z.string(),
  kind: z.enum(kinds),
  integration: z.string(),
  type: entityType.nullable(),
  record_id: z.string().nullable(),
  destination: z.string().nullable(),
  version: z.int().nullable(),
  code: z.string(),
  message: z.string(),
  times: z.int(),
  at: instant,
  last_at: instant,
  state: z.enum(['open', 'replayed', 'dropped']),
});
const whole = letter.extend({
  detail: anyJson,
  raw: anyJson,
  cause: z.string().nullable(),
  cause_id: z.string().nullable(),
  connector_version: z.int().nullable(),
  integration_version: z.int().nullable(),
  closed_at: instant.nullable(),
  closed_by: z.string().nullable(),
  closed_reason: z.string().nullable(),
  data: anyJson,
  attempts: z.array(attempt),
  waiting_behind: z.int(),
  event: anyJson,
  effective_at: instant.nullable(),
  advice: z.string().describe('What to do about it, by its cause.'),
  at_partner: z.boolean().describe('The data is wrong at the partner; the mapping read it as intended.'),
  marks: z.array(z.string()).describe('Where in the payload the fields are that broke a rule.'),
});
const result = z.object({
  id: z.string(),
  result: z.enum(['replayed', 'still_failing', 'gone']),
  code: z.string().optional(),
  message: z.string().optional(),
});
const under = z
  .enum(['today', 'recorded'])
  .optional()
  .describe(
    'Process with the current documents, or with those it failed with. Default: recorded for deliveries, today for the others.',
  );
const filter = {
  integration: z.string().optional(),
  kind: z.enum(kinds).optional(),
  destination: z.string().optional(),
  code: z.string().optional(),
  record_id: z.string().optional(),
  message: z.string().max(2000).optional().describe('The exact message: the letters of one reason.'),
  q: z.string().max(longestId).optional().describe('Part of an id, a message or a code.'),
};
const place = z.union([
  z.strictObject({ profile: z.string().min(1).max(longestId).describe('The id of a profile.') }),
  z.strictObject({
    reservation: z.string().min(1).max(longestId),
    place: z.int().min(0).describe('The place among the guests of the reservation, from 0.'),
  }),
]);
const candidate = z.object({
  at: place,
  person: person.nullable().describe('Null if nobody is there any more.'),
  stay: z.object({ check_in: z.string(), check_out: z.string(), status: z.string() }).optional(),
});
const idParam = z.strictObject({ id: z.string().regex(/^\d{1,18}$/) });
/** Replayed while the caller waits; for more, call again or use the command line. */
const mostAtOnce = 200;

export function deadLetterRoutes(ports: DeadLetterPorts): Route[] {
  const scope = { kind: 'object' as const, of: ({ id = '' }: Record<string, string>) => ports.integrationOf(id) };
  const path = '/dead-letters/{id}';
  const filterOf = (
    asked: { [key in keyof typeof filter]?: string | undefined },
    within: readonly string[] | undefined,
  ): DeadLetterFilter => ({
    ...(asked.integration !== undefined && { integration: asked.integration }),
    ...(asked.kind !== undefined && { kind: asked.kind as DeadLetter['kind'] }),
    ...(asked.destination !== undefined && { destination: asked.destination }),
    ...(asked.code !== undefined && { code: asked.code }),
    ...(asked.record_id !== undefined && { recordId: asked.record_id }),
    ...(asked.message !== undefined && { message: asked.message }),
    ...(asked.q !== undefined && { text: asked.q }),
    ...(within && { integrations: within }),
  });
  return [
    route({
      method: 'GET',
      path: '/dead-letters',
      id: 'dead_letters.list',
      summary: 'Dead letters, oldest first',
      tag: 'dead letters',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        ...filter,
        state: z.enum(['open', 'replayed', 'dropped', 'all']).default('open'),
      }),
      response: pageOf(letter).extend({ total: z.int().describe('How many match the filter in total.') }),
      handle: async ({ query, within }) => {
        const asked = { ...filterOf(query, within), state: query.state };
        const [after] = decodeCursor(query.cursor, 'number');
        const rows = await ports.list({ ...asked, limit: query.limit + 1, ...(after !== undefined && { after }) });
        return ok({ ...paged(rows, query.limit, (row) => [row.id]), total: await ports.count(asked) });
      },
    }),
    route({
      method: 'GET',
      path: '/dead-letter-reasons',
      id: 'dead_letters.reasons',
      summary: 'Dead letters by their reason: how many records, how often, since when',
      tag: 'dead letters',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({ ...filter, state: z.enum(['open', 'replayed', 'dropped', 'all']).default('open') }),
      response: z.object({
        items: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            kind: z.enum(kinds),
            destination: z.string().nullable(),
            records: z.int(),
            times: z.int().describe('Failures over all of them: a record that fails at every poll is one letter.'),
            integrations: z.array(z.string()).describe('Up to five.'),
            ids: z.array(z.string()).describe('Up to five.'),
            newest: z.string().describe('The newest dead letter.'),
            at: instant,
            last_at: instant,
          }),
        ),
      }),
      handle: async ({ query, within }) =>
        ok({ items: await ports.reasons({ ...filterOf(query, within), state: query.state }) }),
    }),
    route({
      method: 'GET',
      path,
      id: 'dead_letters.get',
      summary: 'One dead letter with its payload',
      tag: 'dead letters',
      role: 'viewer',
      scope,
      payload: true,
      params: idParam,
      response: whole,
      handle: async ({ params }) => {
        const found = await ports.show(params.id);
        return found ? ok(found) : notFound(`dead letter ${params.id}`);
      },
    }),
    route({
      method: 'GET',
      path: `${path}/preview`,
      id: 'dead_letters.preview',
      summary: 'What a replay would change; nothing is changed',
      tag: 'dead letters',
      role: 'viewer',
      scope,
      payload: true,
      params: idParam,
      query: z.strictObject({ under }),
      response: replayPreview,
      handle: async ({ params, query }) => {
        const found = await ports.show(params.id);
        return found ? ok(await ports.preview(found, query.under)) : notFound(`dead letter ${params.id}`);
      },
    }),
    route({
      method: 'GET',
      path: `${path}/candidates`,
      id: 'dead_letters.candidates',
      summary: 'The persons whom an ambiguous guest event may mean, as they are now; up to 50',
      tag: 'dead letters',
      role: 'viewer',
      scope,
      payload: true,
      params: idParam,
      response: z.object({ items: z.array(candidate) }),
      handle: async ({ params }) => {
        const items = await ports.candidates(params.id);
        return items ? ok({ items }) : notFound(`guest event to assign in dead letter ${params.id}`);
      },
    }),
    route({
      method: 'POST',
      path: `${path}/assign`,
      id: 'dead_letters.assign',
      summary: 'Apply an ambiguous guest event to one of its candidates',
      description:
        'The event changes the profile and the coming reservations of that person, and they are delivered. It stays open if another person is there by now, or if another guest of the event is not certain.',
      tag: 'dead letters',
      role: 'operator',
      scope,
      params: idParam,
      body: z.strictObject({ to: place }),
      response: z.object({ result: z.enum(['assigned', 'still_open']), message: z.string().optional() }),
      handle: async ({ params, body, caller }) => {
        const done = await ports.assign(params.id, body.to, caller.name);
        return done.result === 'refused' ? problem(409, 'operate.conflict', done.reason) : ok(done);
      },
    }),
    route({
      method: 'POST',
      path: `${path}/replay`,
      id: 'dead_letters.replay',
      summary: 'Replay one dead letter',
      tag: 'dead letters',
      role: 'operator',
      scope,
      params: idParam,
      body: z.strictObject({ under }),
      response: result,
      handle: async ({ params, body, caller }) => {
        const found = await ports.show(params.id);
        if (found === undefined) return notFound(`dead letter ${params.id}`);
        if (found.state !== 'open')
          return problem(409, 'operate.conflict', `The dead letter is already ${found.state}.`);
        const [first] = await ports.replay([found], body.under, caller.name);
        return ok(first);
      },
    }),
    route({
      method: 'POST',
      path: '/dead-letters/replay',
      id: 'dead_letters.replay_many',
      summary: `Replay the open dead letters that match a filter, oldest first, up to ${mostAtOnce} per call`,
      tag: 'dead letters',
      role: 'operator',
      scope: 'any',
      body: z.strictObject({
        ...filter,
        ids: z
          .array(z.string().regex(/^\d{1,18}$/))
          .max(mostAtOnce)
          .optional(),
        under,
      }),
      response: z.object({
        results: z.array(result),
        remaining: z.int().describe('Open dead letters that still match the filter.'),
      }),
      handle: async ({ body, caller, within }) => {
        const asked = { ...filterOf(body, within), ...(body.ids && { ids: body.ids }) };
        const letters = await ports.list({ ...asked, limit: mostAtOnce });
        const results = await ports.replay(letters, body.under, caller.name);
        return ok({ results, remaining: await ports.count(asked) });
      },
    }),
    route({
      method: 'POST',
      path: `${path}/drop`,
      id: 'dead_letters.drop',
      summary: 'Drop one with a reason; the versions that it held back are delivered',
      tag: 'dead letters',
      role: 'operator',
      scope,
      params: idParam,
      body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
      response: z.object({ dropped: z.literal(true) }),
      handle: async ({ params, body, caller }) =>
        (await ports.drop(params.id, caller.name, body.reason))
          ? ok({ dropped: true })
          : problem(409, 'operate.conflict', 'The dead letter is no longer open.'),
    }),
  ];
}
