import { z } from 'zod';
import { longestId } from '../../../core/canonical/field-check.ts';
import {
  previewSchema,
  type ReplayResult,
  replayDeadLetters,
  type Under,
  underFor,
} from '../../../core/deliver/replay.ts';
import { InnboundError } from '../../../errors.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { assignGuestEvent, guestCandidates } from '../../operations/assign-guest-event.ts';
import { adviseLetter } from '../../operations/recorded-documents.ts';
import { dropDeadLetter, replayPorts } from '../../operations/replay-dead-letters.ts';
import { instant } from '../../store/answers.ts';
import {
  countDeadLetters,
  type DeadLetter,
  type DeadLetterFilter,
  deadLetterIntegration,
  deadLetterReasons,
  letterKinds,
  letterSchema,
  listDeadLetters,
  showDeadLetter,
  type WholeDeadLetter,
  wholeLetterSchema,
} from '../../store/dead-letters.ts';
import { itemsOf, person } from '../forms.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { type Node, notFound, ok, operator, problem, type Route, viewer } from '../route.ts';

const whole = wholeLetterSchema.extend({
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
  kind: z.enum(letterKinds).optional(),
  destination: z.string().optional(),
  code: z.string().optional(),
  record_id: z.string().optional(),
  message: z.string().max(2000).optional().describe('The exact message: the letters of one reason.'),
  q: z.string().max(longestId).optional().describe('Part of an id, a message or a code.'),
};
const listFilter = { ...filter, state: z.enum([...letterSchema.shape.state.options, 'all']).default('open') };
const filterOf = (
  { integration, kind, destination, code, record_id: recordId, message, q: text }: z.infer<z.ZodObject<typeof filter>>,
  within: readonly string[] | undefined,
): DeadLetterFilter => ({ integration, kind, destination, code, recordId, message, text, integrations: within });
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
const letterId = z.string().regex(/^\d{1,18}$/);
/** Replayed while the caller waits; for more, call again or use the command line. */
const mostAtOnce = 200;

export function deadLetterRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  const scope = ({ id = '' }: Record<string, string>) => deadLetterIntegration(pool, id);
  const path = '/dead-letters/{id}';
  const found = async (id: string): Promise<WholeDeadLetter> => {
    const deadLetter = await showDeadLetter(pool, id);
    if (deadLetter === undefined) throw new InnboundError('operate.not_found', `There is no dead letter ${id}.`);
    return deadLetter;
  };
  return [
    viewer('GET /dead-letters', {
      id: 'dead_letters.list',
      summary: 'Dead letters, oldest first',
      scope: 'any',
      query: z.strictObject({ ...pageQuery, ...listFilter }),
      response: pageOf(letterSchema).extend({ total: z.int().describe('How many match the filter in total.') }),
      handle: async ({ query, within }) => {
        const asked = { ...filterOf(query, within), state: query.state };
        const [after] = decodeCursor(query.cursor, 'number');
        const rows = await listDeadLetters(pool, { ...asked, limit: query.limit + 1, after });
        return ok({ ...paged(rows, query.limit, (row) => [row.id]), total: await countDeadLetters(pool, asked) });
      },
    }),
    viewer('GET /dead-letter-reasons', {
      id: 'dead_letters.reasons',
      summary: 'Dead letters by their reason: how many records, how often, since when',
      scope: 'any',
      query: z.strictObject(listFilter),
      response: itemsOf({
        code: z.string(),
        message: z.string(),
        kind: z.enum(letterKinds),
        destination: z.string().nullable(),
        records: z.int(),
        times: z.int().describe('Failures over all of them: a record that fails at every poll is one letter.'),
        integrations: z.array(z.string()).describe('Up to five.'),
        brands: z.int(),
        ids: z.array(z.string()).describe('Up to five.'),
        newest: z.string().describe('The newest dead letter.'),
        at: instant,
        last_at: instant,
      }),
      handle: async ({ query, within }) =>
        ok({ items: await deadLetterReasons(pool, { ...filterOf(query, within), state: query.state }) }),
    }),
    viewer(`GET ${path}`, {
      id: 'dead_letters.get',
      summary: 'One dead letter with its payload',
      scope,
      payload: true,
      response: whole,
      handle: async ({ params }) => {
        const deadLetter = await found(params.id);
        return ok({ ...deadLetter, ...(await adviseLetter(pool, deadLetter)) });
      },
    }),
    viewer(`GET ${path}/preview`, {
      id: 'dead_letters.preview',
      summary: 'What a replay would change; nothing is changed',
      scope,
      payload: true,
      query: z.strictObject({ under }),
      response: previewSchema,
      handle: async ({ params, query }) => {
        const deadLetter = await found(params.id);
        return ok(await replayPorts(runtime).preview(deadLetter, underFor(deadLetter, query.under)));
      },
    }),
    viewer(`GET ${path}/candidates`, {
      id: 'dead_letters.candidates',
      summary: 'The persons whom an ambiguous guest event may mean, as they are now; up to 50',
      scope,
      payload: true,
      response: z.object({ items: z.array(candidate) }),
      handle: async ({ params }) => {
        const items = await guestCandidates(runtime, params.id);
        return items ? ok({ items }) : notFound(`guest event to assign in dead letter ${params.id}`);
      },
    }),
    operator(`POST ${path}/assign`, {
      id: 'dead_letters.assign',
      summary: 'Apply an ambiguous guest event to one of its candidates',
      description:
        'The event changes the profile and the coming reservations of that person, and they are delivered. It stays open if another person is there by now, or if another guest of the event is not certain.',
      scope,
      body: z.strictObject({ to: place }),
      response: z.object({ result: z.enum(['assigned', 'still_open']), message: z.string().optional() }),
      handle: async ({ params, body, caller }) => ok(await assignGuestEvent(runtime, params.id, body.to, caller.name)),
    }),
    operator(`POST ${path}/replay`, {
      id: 'dead_letters.replay',
      summary: 'Replay one dead letter',
      scope,
      body: z.strictObject({ under }),
      response: result,
      handle: async ({ params, body, caller }) => {
        const deadLetter = await found(params.id);
        if (deadLetter.state !== 'open')
          return problem(409, 'operate.conflict', `The dead letter is already ${deadLetter.state}.`);
        const [first] = await replay(runtime, [deadLetter], body.under, caller.name);
        return ok(first);
      },
    }),
    operator('POST /dead-letters/replay', {
      id: 'dead_letters.replay_many',
      summary: `Replay the open dead letters that match a filter, oldest first, up to ${mostAtOnce} per call`,
      scope: 'any',
      body: z.strictObject({
        ...filter,
        ids: z.array(letterId).max(mostAtOnce).optional(),
        under,
      }),
      response: z.object({
        results: z.array(result),
        remaining: z.int().describe('Open dead letters that still match the filter.'),
      }),
      handle: async ({ body, caller, within }) => {
        const asked = { ...filterOf(body, within), ids: body.ids };
        const letters = await listDeadLetters(pool, { ...asked, limit: mostAtOnce });
        const results = await replay(runtime, letters, body.under, caller.name);
        return ok({ results, remaining: await countDeadLetters(pool, asked) });
      },
    }),
    operator(`POST ${path}/drop`, {
      id: 'dead_letters.drop',
      summary: 'Drop one with a reason; the versions that it held back are delivered',
      scope,
      body: z.strictObject({ reason: z.string().trim().min(1).max(500) }),
      response: z.object({ dropped: z.literal(true) }),
      handle: async ({ params, body, caller }) =>
        (await dropDeadLetter(runtime, params.id, { by: caller.name, reason: body.reason }))
          ? ok({ dropped: true })
          : problem(409, 'operate.conflict', 'The dead letter is no longer open.'),
    }),
  ];
}

/** Replays 200 dead letters in 4 seconds, without flooding a destination that has just recovered. */
const replaysPerSecond = 50;

async function replay(
  runtime: Runtime,
  letters: readonly DeadLetter[],
  under: Under | undefined,
  by: string,
): Promise<ReplayResult[]> {
  const results: ReplayResult[] = [];
  await replayDeadLetters(replayPorts(runtime), letters, {
    by,
    perSecond: replaysPerSecond,
    onEach: (result) => results.push(result),
    under,
  });
  return results;
}
