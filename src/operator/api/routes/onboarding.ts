import { z } from 'zod';
import { Buckets } from '../../../core/intake/push/receive.ts';
import { InnboundError } from '../../../errors.ts';
import type { Ask } from '../../onboard/checklist.ts';
import { linkFor } from '../../operations/consent.ts';
import {
  checksOf,
  comment,
  createLink,
  goLive,
  linkRequest,
  openOnboarding,
  revoke,
  takeSecret,
  withLink,
  withoutOthers,
} from '../../operations/onboarding.ts';
import { checkPull, pullForm, savePull, testPull } from '../../operations/onboarding-pull.ts';
import { partnerView } from '../../operations/onboarding-view.ts';
import { sendSample } from '../../operations/sandbox.ts';
import { anyJson } from '../../store/answers.ts';
import {
  commentSchema,
  findLink,
  linkSchema,
  listLinks,
  markReady,
  type OnboardingLink,
  startRetryTest,
} from '../../store/onboarding.ts';
import { cookieIn, isServedOverHttps, newCookie, secondsUntil } from '../caller.ts';
import { admin, anyone, type Node, ok, okIf, operator, partner, problem, type Route, viewer } from '../route.ts';

const check = z.object({
  id: z.string(),
  state: z.enum(['done', 'wrong', 'missing']),
  seen: z.record(z.string(), z.union([z.string(), z.number()])),
  isOptional: z.literal(true).optional(),
});
const link = linkSchema.extend({ checks: z.array(check), is_complete: z.boolean() });
const commentBody = z.strictObject({
  about: z.string().trim().max(120).default(''),
  text: z.string().trim().max(2_000).describe('Empty: confirms the field.'),
});

/** For operators: links, their checklists, approval. */
export function onboardingRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  const scope = async ({ link_id = '' }: Record<string, string>) => (await findLink(pool, link_id))?.integration;
  const linkOf = async (id: string): Promise<OnboardingLink> => opened(await findLink(pool, id));
  const shownLink = (one: OnboardingLink) => {
    const { push_facts, pull_facts, secret_at, connector_version, comments, ...shown } = one;
    return { ...shown, ...checksOf(runtime, one) };
  };
  return [
    viewer('GET /onboarding-links', {
      id: 'onboarding.list',
      summary: 'Onboarding links, newest first, with their checklists',
      scope: 'any',
      query: z.strictObject({ integration: z.string().optional() }),
      response: z.object({ items: z.array(link) }),
      handle: async ({ within }) => ok({ items: (await listLinks(pool, within)).map(shownLink) }),
    }),
    admin('POST /integrations/{integration}/onboarding-links', {
      id: 'onboarding.create',
      summary: 'Create a link with which a partner connects one brand',
      description: 'The address is shown only in this response: only its hash is stored.',
      status: 201,
      body: linkRequest,
      response: link.extend({ url: z.string() }),
      handle: async ({ params, body, caller }) => {
        const made = await createLink(runtime, params.integration, body, caller.name);
        return ok({ ...shownLink(made.link), url: made.url });
      },
    }),
    viewer('GET /onboarding-links/{link_id}', {
      id: 'onboarding.get',
      summary: 'One onboarding link: checklist, comments, and the versions of the connector before and after',
      scope,
      response: link.extend({
        comments: z.array(commentSchema),
        connector: z.object({ name: z.string(), before: z.int(), now: z.int() }).nullable(),
      }),
      handle: async ({ params }) => {
        const one = await linkOf(params.link_id);
        const { name, version } = runtime.active().integrations.get(one.integration)?.connector ?? {};
        const connector = name === undefined ? null : { name, before: one.connector_version, now: version };
        return ok({ ...shownLink(one), comments: one.comments, connector });
      },
    }),
    admin('DELETE /onboarding-links/{link_id}', {
      id: 'onboarding.revoke',
      summary: 'Revoke an onboarding link: its page ends at once',
      scope,
      response: z.object({ revoked: z.literal(true) }),
      handle: async ({ params: { link_id: id } }) =>
        okIf(await revoke(runtime, id), { revoked: true }, `onboarding link ${id}`),
    }),
    operator('POST /onboarding-links/{link_id}/comments', {
      id: 'onboarding.answer',
      summary: 'Answer the partner on its page',
      scope,
      status: 201,
      body: commentBody.extend({ text: commentBody.shape.text.min(1) }),
      response: z.object({ added: z.literal(true) }),
      handle: async ({ params, body, caller }) => {
        await comment(runtime, params.link_id, { side: 'operator', author: caller.name, ...body });
        return ok({ added: true });
      },
    }),
    admin('POST /onboarding-links/{link_id}/approve', {
      id: 'onboarding.approve',
      summary: 'The brand goes live: same address, rehearsal off, a first backfill',
      scope,
      body: z.strictObject({
        past_days: z.int().min(0).max(730).default(30).describe('How far back the first backfill reaches.'),
        future_days: z.int().min(0).max(730).default(365),
        anyway: z.boolean().default(false).describe('Although the checklist has gaps.'),
        deliver: z
          .array(z.string())
          .optional()
          .describe(
            'Where its bookings go, held in preview until they are released; empty: nowhere, on purpose. Needed if the document names no destination.',
          ),
      }),
      response: z.object({
        live: z.literal(true),
        run_id: z.string().nullable(),
        deliver: z.array(z.string()),
        preview: z.array(z.string()).describe('Of these, the ones that wait for a release.'),
      }),
      handle: async ({ params, body: { past_days: pastDays, future_days: futureDays, anyway, deliver }, caller }) => {
        const approval = { pastDays, futureDays, anyway, deliver };
        return ok({ live: true, ...(await goLive(runtime, await linkOf(params.link_id), approval, caller.name)) });
      },
    }),
  ];
}

/**
 * For the partner's page. Each acts on the one link that the browser has opened. They are no part of the published API, so their answers have
 * no schema.
 */
export function partnerRoutes({ runtime }: Node): Route[] {
  const at = '/onboarding/{link_id}' as const;
  /** A test makes requests to an address that the partner types. */
  const tests = new Buckets(() => ({ perSecond: 0.2, burst: 8 }), 10_000);
  const underWay = new Set<string>();
  /** Each holds a big answer for a while: one of a kind for each link, and a few on this node. */
  const oneTest = async <T>(kind: string, { link_id }: OnboardingLink, work: () => Promise<T>): Promise<T> => {
    const busy = (why: string) => new InnboundError('operate.busy', `${why}; try again in a few seconds.`);
    const wait = tests.take(link_id, runtime.clock.now());
    if (wait.kind === 'wait') throw new InnboundError('operate.busy', `Too many tests; wait ${wait.seconds} s.`);
    const key = `${kind} ${link_id}`;
    if (underWay.has(key)) throw busy('A test of this link is under way');
    if (underWay.size >= mostTests) throw busy('Other tests are under way');
    underWay.add(key);
    return work().finally(() => underWay.delete(key));
  };
  /** `handle` gets the link, if it asks for `part`; its answer is sent, or only that it was done. */
  const action = <Body extends z.ZodType | undefined = undefined>(
    name: string,
    part: Ask | undefined,
    handle: (
      link: OnboardingLink,
      body: z.infer<NonNullable<Body>>,
      by: string,
      signal: AbortSignal,
    ) => Promise<unknown>,
    body?: Body,
  ) =>
    partner(`POST ${at}/${name}`, {
      scope: 'any',
      id: `partner.${name}`,
      summary: name,
      ...(body && { body }),
      // Some take a while, and end with the page.
      waits: true,
      response: anyJson,
      handle: async ({ link, body: given, caller, signal }) => {
        if (part !== undefined && !opened(link).asks.includes(part)) {
          return problem(403, 'operate.forbidden', `The link does not ask for ${part}.`);
        }
        const { integration } = opened(link);
        const done = await handle(opened(link), given as z.infer<NonNullable<Body>>, caller.name, signal).catch(
          (error: unknown) => {
            throw withoutOthers(runtime, integration, error);
          },
        );
        return ok(done ?? { done: true });
      },
    });
  return [
    anyone(`POST ${at}/open`, {
      id: 'partner.open',
      summary: 'Open an onboarding link: binds it to this browser',
      scope: 'any',
      body: z.strictObject({ token: z.string().min(20).max(100) }),
      response: z.object({ opened: z.literal(true) }),
      handle: async ({ params: { link_id: linkId }, body, cookies }) => {
        const secure = isServedOverHttps(runtime);
        const done = await openOnboarding(runtime, linkId, body.token, cookieIn(cookies, secure, 'link', linkId));
        switch (done.kind) {
          case 'ok': {
            const maxAgeS = secondsUntil(done.link.expires_at, runtime.clock.now()) + pageDaysAfterLive * 86_400;
            const cookie = newCookie(secure, 'link', done.browser, maxAgeS, linkId);
            return { ...ok({ opened: true }, { 'set-cookie': cookie }), actor: `${done.link.partner} (onboarding)` };
          }
          case 'unknown':
            return problem(401, 'operate.unauthorized', 'There is no such link.');
          case 'elsewhere':
            return problem(409, 'operate.link_elsewhere', 'The link is in use in another browser.');
          default:
            return problem(410, 'operate.link_ended', `The link is ${done.kind}.`);
        }
      },
    }),
    partner(`GET ${at}`, {
      scope: 'any',
      id: 'partner.view',
      summary: 'What the page shows',
      response: anyJson,
      handle: async ({ link }) => ok(await partnerView(runtime, opened(link))),
    }),
    action('secret', 'push', async (link) => ({ secret: await takeSecret(runtime, link) })),
    action('sample', 'push', (link) => sendSample(runtime, link)),
    action('retry-test', 'push', ({ link_id }) =>
      withLink(runtime, link_id, 'partner', 'retry-test', (tx, link) => startRetryTest(tx, link, runtime.clock.now())),
    ),
    action('pull', 'pull', (link, form, by) => savePull(runtime, link, form, by), pullForm),
    action('test', 'pull', (link, _, by) => oneTest('test', link, () => testPull(runtime, link, by))),
    action('check', 'pull', (link, _, __, signal) => oneTest('check', link, () => checkPull(runtime, link, signal))),
    action('consent', 'pull', async ({ integration, link_id }, _, by) => {
      await withLink(runtime, link_id, 'partner', 'consent', async () => {});
      const { url } = await linkFor(runtime, integration, by, `/connect/${link_id}`);
      return { url };
    }),
    action(
      'comment',
      undefined,
      async (link, { about, text }) => {
        const isEmpty = text === '' && !about.startsWith('field ');
        if (isEmpty) throw new InnboundError('operate.invalid_input', 'The comment is empty.');
        await comment(runtime, link.link_id, { side: 'partner', author: link.partner, about, text });
      },
      commentBody,
    ),
    action('ready', undefined, ({ link_id }) =>
      withLink(runtime, link_id, 'partner', 'ready', async (tx, link) => {
        if (!checksOf(runtime, link).is_complete)
          throw new InnboundError('operate.not_ready', 'The checklist is not complete.');
        await markReady(tx, link_id);
      }),
    ),
  ];
}

/** `identify` lets nobody through to a partner's route without a link. */
function opened(link: OnboardingLink | undefined): OnboardingLink {
  if (link === undefined) throw new TypeError('the onboarding link is gone');
  return link;
}

const mostTests = 4;

/** The page stays open this long after the brand went live. */
const pageDaysAfterLive = 30;
