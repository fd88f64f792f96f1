import { z } from 'zod';
import { Buckets } from '../../intake/push/bucket.ts';
import { asks } from '../../onboard/checklist.ts';
import { linkFor } from '../../operations/consent.ts';
import { goLive } from '../../operations/go-live.ts';
import { createLink, onboardingLanguages, openOnboarding } from '../../operations/onboarding.ts';
import { type PullForm, savePull, testPull } from '../../operations/onboarding-pull.ts';
import { sendSample, takeSecret } from '../../operations/onboarding-push.ts';
import { checksOf, partnerView } from '../../operations/onboarding-view.ts';
import {
  addComment,
  findLink,
  listComments,
  listLinks,
  markReady,
  type OnboardingLink,
  revokeLink,
  startRetryTest,
} from '../../store/operate/onboarding.ts';
import { isServedOverHttps } from '../caller.ts';
import { browserCookieOf, browserOf, secondsUntil } from '../cookies.ts';
import { type Api, anyJson, instant, notFound, ok, problem, type Result, type Route, route } from '../route.ts';
import { exchange } from './runs.ts';

const check = z.object({
  id: z.string(),
  state: z.enum(['done', 'wrong', 'missing']),
  seen: z.record(z.string(), z.union([z.string(), z.number()])),
  isOptional: z.literal(true).optional(),
});
const comment = z.object({
  comment_id: z.int(),
  at: instant,
  side: z.enum(['partner', 'operator']),
  author: z.string(),
  about: z.string().describe('`field NAME`, `request ID`, or empty.'),
  text: z.string().describe('Empty: the partner confirms the field.'),
});
const link = z.object({
  link_id: z.string(),
  integration: z.string(),
  partner: z.string(),
  language: z.enum(onboardingLanguages),
  asks: z.array(z.enum(asks)),
  many_browsers: z.boolean(),
  is_opened: z.boolean(),
  created_at: instant,
  created_by: z.string(),
  expires_at: instant,
  revoked_at: instant.nullable(),
  ready_at: instant.nullable(),
  live_at: instant.nullable(),
  checks: z.array(check),
  is_complete: z.boolean(),
});
const shownLink = ({ push_facts, pull_facts, secret_at, connector_version, ...shown }: OnboardingLink) => ({
  ...shown,
  ...checksOf({ ...shown, push_facts, pull_facts, secret_at, connector_version }),
});
const partnerName = z.string().trim().min(1).max(80);
const commentBody = z.strictObject({
  about: z.string().trim().max(120).default(''),
  text: z.string().trim().max(2_000).describe('Empty: confirms the field.'),
});

/** For operators: links, their checklists, approval. */
export function onboardingRoutes({ runtime }: Api): Route[] {
  const { pool } = runtime;
  const scope = async ({ link_id = '' }: Record<string, string>) => (await findLink(pool, link_id))?.integration;
  return [
    route('GET /onboarding-links', {
      id: 'onboarding.list',
      summary: 'Onboarding links, newest first, with their checklists',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({ integration: z.string().optional() }),
      response: z.object({ items: z.array(link) }),
      handle: async ({ within }) => ok({ items: (await listLinks(pool, within)).map(shownLink) }),
    }),
    route('POST /integrations/{integration}/onboarding-links', {
      id: 'onboarding.create',
      summary: 'Create a link with which a partner connects one brand',
      description: 'The address is shown only in this response: only its hash is stored.',
      role: 'admin',
      status: 201,
      body: z.strictObject({
        partner: partnerName.describe('Who gets the link.'),
        asks: z
          .array(z.enum(asks))
          .min(1)
          .default([...asks]),
        language: z.enum(onboardingLanguages).default('en'),
        days: z.int().min(1).max(90).default(14).describe('Days until it expires.'),
        many_browsers: z
          .boolean()
          .default(false)
          .describe('By default only the first browser that opens it can use it.'),
        brand: z
          .strictObject({
            brand_id: z.string().min(1),
            timezone: z.string().min(1),
            country: z.string().optional(),
            deliver: z.array(z.string()).default([]),
          })
          .optional()
          .describe('Creates the brand, with a connector of its own that the partner’s answers fill.'),
      }),
      response: link.extend({ url: z.string() }),
      handle: async ({ params, body, caller }) => {
        const made = await createLink(runtime, { ...body, integration: params.integration }, caller.name);
        return ok({ ...shownLink(made.link), url: made.url });
      },
    }),
    route('GET /onboarding-links/{link_id}', {
      id: 'onboarding.get',
      summary: 'One onboarding link: checklist, comments, and the versions of the connector before and after',
      role: 'viewer',
      scope,
      response: link.extend({
        comments: z.array(comment),
        connector: z.object({ name: z.string(), before: z.int(), now: z.int() }).nullable(),
      }),
      handle: async ({ params }) => {
        const found = await findLink(pool, params.link_id);
        if (found === undefined) return notFound(`onboarding link ${params.link_id}`);
        const { name, version } = runtime.active().integrations.get(found.integration)?.connector ?? {};
        const connector = name === undefined ? null : { name, before: found.connector_version, now: version };
        return ok({ ...shownLink(found), comments: await listComments(pool, found.link_id), connector });
      },
    }),
    route('DELETE /onboarding-links/{link_id}', {
      id: 'onboarding.revoke',
      summary: 'Revoke an onboarding link: its page ends at once',
      role: 'admin',
      scope,
      response: z.object({ revoked: z.literal(true) }),
      handle: async ({ params }) =>
        (await revokeLink(pool, params.link_id))
          ? ok({ revoked: true })
          : notFound(`valid onboarding link ${params.link_id}`),
    }),
    route('POST /onboarding-links/{link_id}/comments', {
      id: 'onboarding.answer',
      summary: 'Answer the partner on its page',
      role: 'operator',
      scope,
      status: 201,
      body: commentBody.extend({ text: commentBody.shape.text.min(1) }),
      response: z.object({ added: z.literal(true) }),
      handle: async ({ params, body, caller }) => {
        const found = await findLink(pool, params.link_id);
        if (found === undefined) return notFound(`onboarding link ${params.link_id}`);
        return added(await addComment(pool, found, { side: 'operator', author: caller.name, ...body }));
      },
    }),
    route('POST /onboarding-links/{link_id}/approve', {
      id: 'onboarding.approve',
      summary: 'The brand goes live: same address, rehearsal off, a first backfill',
      role: 'admin',
      scope,
      body: z.strictObject({
        past_days: z.int().min(0).max(730).default(30).describe('How far back the first backfill reaches.'),
        future_days: z.int().min(0).max(730).default(365),
        anyway: z.boolean().default(false).describe('Although the checklist has gaps.'),
      }),
      response: z.object({ live: z.literal(true), run_id: z.string().nullable() }),
      handle: async ({ params, body: { past_days: pastDays, future_days: futureDays, anyway }, caller }) => {
        const found = await findLink(pool, params.link_id);
        if (found === undefined) return notFound(`onboarding link ${params.link_id}`);
        const { run_id } = await goLive(runtime, found, { pastDays, futureDays, anyway }, caller.name);
        return ok({ live: true, run_id });
      },
    }),
  ];
}

const added = (isAdded: boolean): Result =>
  isAdded ? ok({ added: true }) : problem(409, 'operate.too_costly', 'This link has too many comments.');

/** For the partner's page. Each acts on the one link that the browser has opened. */
export function partnerRoutes({ runtime }: Api): Route[] {
  const { pool } = runtime;
  const secure = () => isServedOverHttps(runtime);
  const at = '/onboarding/{link_id}' as const;
  const common = { role: 'partner', scope: 'any' } as const;
  return [
    route(`POST ${at}/open`, {
      id: 'partner.open',
      summary: 'Open an onboarding link: binds it to this browser',
      role: 'public',
      scope: 'any',
      body: z.strictObject({ token: z.string().min(20).max(100) }),
      response: z.object({ opened: z.literal(true) }),
      handle: async ({ params, body, cookies }) => {
        const { link_id: linkId } = params;
        const done = await openOnboarding(runtime, linkId, body.token, browserOf(cookies, secure(), linkId));
        switch (done.kind) {
          case 'ok': {
            const maxAgeS = secondsUntil(done.link.expires_at, runtime.clock.now()) + pageDaysAfterLive * 86_400;
            const cookie = browserCookieOf(secure(), linkId, done.browser, maxAgeS);
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
    route(`GET ${at}`, {
      ...common,
      id: 'partner.view',
      summary: 'What the onboarding page shows',
      response: anyJson,
      handle: async ({ link }) => ok(await partnerView(runtime, opened(link))),
    }),
    route(`POST ${at}/secret`, {
      ...common,
      id: 'partner.secret',
      summary: 'A new webhook secret, shown once; earlier ones stay valid for a day',
      response: z.object({ secret: z.string() }),
      handle: async ({ link }) => ok({ secret: await takeSecret(runtime, opened(link)) }),
    }),
    route(`POST ${at}/sample`, {
      ...common,
      id: 'partner.sample',
      summary: 'Send a signed sample event to the brand’s sandbox',
      response: z.object({ sent: z.literal(true) }),
      handle: async ({ link }) => {
        await sendSample(runtime, opened(link));
        return ok({ sent: true });
      },
    }),
    route(`POST ${at}/retry-test`, {
      ...common,
      id: 'partner.retry_test',
      summary: 'Refuse the next event twice with 500, to see the sender’s retries',
      response: z.object({ started: z.literal(true) }),
      handle: async ({ link }) => {
        const { integration, link_id } = opened(link);
        await startRetryTest(pool, integration, link_id, runtime.clock.now());
        return ok({ started: true });
      },
    }),
    route(`PUT ${at}/pull`, {
      ...common,
      id: 'partner.pull',
      summary: 'Where the partner’s API is, its credentials, and how its list is asked for',
      body: z.strictObject({
        base_url: z.string().max(500),
        auth: z.record(z.string(), anyJson).optional(),
        list: z
          .strictObject({
            method: z.enum(['GET', 'POST']),
            path: z.string().min(1).max(300),
            from: z.string().max(80),
            to: z.string().max(80),
            paging: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
          })
          .optional(),
      }),
      response: z.object({ saved: z.literal(true) }),
      handle: async ({ link, body, caller }) => {
        await savePull(runtime, opened(link), body as PullForm, caller.name);
        return ok({ saved: true });
      },
    }),
    route(`POST ${at}/pull/test`, {
      ...common,
      id: 'partner.test',
      summary: 'Ask the partner’s API now, and show what we read',
      response: z.object({
        request: exchange.optional(),
        failure: z.object({ code: z.string(), message: z.string(), meaning: z.string() }).optional(),
        records: z.array(z.array(z.object({ field: z.string(), value: z.string(), from: z.string().optional() }))),
        filled: z.array(z.object({ field: z.string(), filled: z.int(), of: z.int() })),
        unread: z.array(z.string()),
      }),
      handle: async ({ link, caller }) => {
        const { link_id } = opened(link);
        const wait = tests.take(link_id, runtime.clock.now());
        if (wait.kind === 'wait') return problem(429, 'operate.busy', `Too many tests; wait ${wait.seconds} s.`);
        return ok(await testPull(runtime, opened(link), caller.name));
      },
    }),
    route(`POST ${at}/pull/consent`, {
      ...common,
      id: 'partner.consent',
      summary: 'The address at which the partner grants access (OAuth 2.0 authorization code)',
      response: z.object({ url: z.string() }),
      handle: async ({ link, caller }) => {
        const consent = await linkFor(runtime, opened(link).integration, caller.name);
        return consent.kind === 'ok' ? ok({ url: consent.url }) : problem(409, consent.code, consent.message);
      },
    }),
    route(`POST ${at}/comments`, {
      ...common,
      id: 'partner.comment',
      summary: 'A comment on a field or a request, or the confirmation of a field',
      status: 201,
      body: commentBody,
      response: z.object({ added: z.literal(true) }),
      handle: async ({ link, body }) => {
        if (body.text === '' && !body.about.startsWith('field ')) {
          return problem(422, 'operate.invalid_input', 'The comment is empty.');
        }
        const author = opened(link).partner;
        return added(await addComment(pool, opened(link), { side: 'partner', author, ...body }));
      },
    }),
    route(`POST ${at}/ready`, {
      ...common,
      id: 'partner.ready',
      summary: 'The partner is ready to go live',
      response: z.object({ ready: z.literal(true) }),
      handle: async ({ link }) => {
        if (!checksOf(opened(link)).is_complete) {
          return problem(409, 'operate.not_ready', 'The checklist is not complete.');
        }
        await markReady(pool, opened(link).link_id);
        return ok({ ready: true });
      },
    }),
  ];
}

/** `identify` lets nobody through to a partner's route without a link. */
function opened(link: OnboardingLink | undefined): OnboardingLink {
  if (link === undefined) throw new TypeError('a partner without a link reached its handler');
  return link;
}

/** A test makes requests to an address that the partner types. */
const tests = new Buckets(() => ({ perSecond: 0.2, burst: 6 }), 10_000);

/** The page stays open this long after the brand went live. */
const pageDaysAfterLive = 30;
