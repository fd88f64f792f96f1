import { hash } from 'node:crypto';
import { z } from 'zod';
import { hitsOne, onlyRow, type Pool, rowOf, rowsOf, type Tx, transaction } from '../../core/store/db/pool.ts';
import { asks } from '../onboard/checklist.ts';
import {
  noPushFacts,
  observe,
  type PullFacts,
  type PushFacts,
  type RehearsedAnswer,
  type Seen,
} from '../onboard/facts.ts';
import { linkRefusal } from '../onboard/states.ts';
import { instant, instantText, type Row } from './answers.ts';

/** One file of texts for each (console/partner/texts). */
export const onboardingLanguages = ['en', 'pt', 'de', 'es', 'fr'] as const;

export const linkSchema = z.object({
  link_id: z.string(),
  integration: z.string(),
  partner: z.string(),
  language: z.enum(onboardingLanguages),
  asks: z.array(z.enum(asks)),
  many_browsers: z.boolean(),
  is_opened: z.boolean(),
  is_expired: z.boolean(),
  created_at: instant,
  created_by: z.string(),
  expires_at: instant,
  revoked_at: instant.nullable(),
  ready_at: instant.nullable(),
  live_at: instant.nullable(),
});

export const commentSchema = z.object({
  at: instantText,
  side: z.enum(['partner', 'operator']),
  author: z.string(),
  about: z.string().describe('`field NAME`, `request ID`, or empty.'),
  text: z.string().describe('Empty: the partner confirms the field.'),
});
type OnboardingComment = Row<typeof commentSchema>;

export interface OnboardingLink extends Row<typeof linkSchema> {
  /** When the partner last took a webhook secret. */
  readonly secret_at: Date | null;
  readonly connector_version: number;
  readonly push_facts: PushFacts | null;
  readonly pull_facts: PullFacts | null;
  readonly comments: readonly OnboardingComment[];
}

const columns = `link_id, integration, partner, language, asks, many_browsers, browsers <> '{}' as is_opened, expires_at <= now() as is_expired, created_at, created_by,
  expires_at, revoked_at, ready_at, live_at, secret_at, connector_version, push_facts, pull_facts, comments`;
/** More would be a leaked link. */
const mostBrowsers = 20;
const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

interface NewLink
  extends Pick<
    OnboardingLink,
    'link_id' | 'integration' | 'partner' | 'language' | 'asks' | 'many_browsers' | 'connector_version'
  > {
  readonly token: string;
  readonly createdBy: string;
  readonly lifeMs: number;
}

export async function insertLink(db: Pool, link: NewLink): Promise<OnboardingLink> {
  return onlyRow(db)<OnboardingLink>(
    `insert into onboarding_links (link_id, integration, partner, language, asks, many_browsers, connector_version, hash, created_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10 * interval '1 ms') returning ${columns}`,
    [
      link.link_id,
      link.integration,
      link.partner,
      link.language,
      link.asks,
      link.many_browsers,
      link.connector_version,
      hashOf(link.token),
      link.createdBy,
      link.lifeMs,
    ],
  );
}

const select = (db: Pool, where: string, ...values: unknown[]): Promise<OnboardingLink[]> =>
  rowsOf(db)(`select ${columns} from onboarding_links where ${where}`, values);

/** Newest first; of these integrations, or of all. */
export const listLinks = (db: Pool, integrations: readonly string[] | undefined) =>
  select(db, '$1::text[] is null or integration = any($1) order by created_at desc, link_id limit 500', integrations);

export const findLink = async (db: Pool, linkId: string) => (await select(db, 'link_id = $1', linkId))[0];

/** The link, if this browser has opened it. */
export const findLinkOf = async (db: Pool, linkId: string, browser: string) =>
  (await select(db, 'link_id = $1 and $2 = any(browsers)', linkId, hashOf(browser)))[0];

/**
 * The link with this token; `isBound` if `browser` may use it from now on: the first that opens the link, one that has opened it before, or
 * any where the operator allowed more.
 */
export async function openLink(
  db: Pool,
  linkId: string,
  token: string,
  browser: string,
): Promise<{ readonly link: OnboardingLink; readonly isBound: boolean } | undefined> {
  const [link] = await select(db, 'link_id = $1 and hash = $2', linkId, hashOf(token));
  if (link === undefined) return undefined;
  const isBound = await hitsOne(db)(
    `update onboarding_links set browsers = case when $2 = any(browsers) then browsers else browsers || $2::bytea end
      where link_id = $1 and revoked_at is null and expires_at > now()
        and ($2 = any(browsers) or browsers = '{}' or (many_browsers and cardinality(browsers) < ${mostBrowsers}))`,
    [linkId, hashOf(browser)],
  );
  return { link, isBound };
}

/** The link, locked until the transaction ends: what it allows does not change meanwhile. */
export const lockLink = (tx: Tx, linkId: string): Promise<OnboardingLink | undefined> =>
  rowOf(tx)(`select ${columns} from onboarding_links where link_id = $1 for update`, [linkId]);

/** Changes the link with this id; `value` is stored as JSON. False if none meets the condition. */
const change = (tx: Tx, linkId: string, set: string, value?: unknown, where = 'true'): Promise<boolean> =>
  hitsOne(tx)(
    `update onboarding_links set ${set} where link_id = $1 and ${where}`,
    value === undefined ? [linkId] : [linkId, JSON.stringify(value)],
  );

export const revokeLink = (tx: Tx, linkId: string) => change(tx, linkId, 'revoked_at = now()');

export const markReady = (tx: Tx, linkId: string) => change(tx, linkId, 'ready_at = coalesce(ready_at, now())');

/** The partner changes what it was ready with. */
export const takeBackReady = (tx: Tx, linkId: string) => change(tx, linkId, 'ready_at = null');

export const markSecret = (tx: Tx, linkId: string) => change(tx, linkId, 'secret_at = now()');

export const savePullFacts = (tx: Tx, linkId: string, facts: PullFacts) => change(tx, linkId, 'pull_facts = $2', facts);

/** Adds how far the check of the API is to what its test has shown, unless another test has begun. */
export async function saveCheck(
  tx: Tx,
  linkId: string,
  { testedAt }: PullFacts,
  check: PullFacts['check'],
): Promise<void> {
  const set = `pull_facts = pull_facts || jsonb_build_object('check', $2::jsonb)`;
  await change(tx, linkId, set, check, `pull_facts -> 'testedAt' = '${Number(testedAt)}'`);
}

/** The brand is live: its links show its health for this long from now on. */
export async function markLive(tx: Tx, integration: string, shownMs: number): Promise<void> {
  await tx.query(
    `update onboarding_links set live_at = now(), expires_at = now() + $2 * interval '1 ms'
      where integration = $1 and live_at is null and revoked_at is null and expires_at > now()`,
    [integration, shownMs],
  );
}

/** Adds the events of a request to what the brand's links have seen, and returns how to answer it. */
export async function witness(db: Pool, integration: string, events: readonly Seen[]): Promise<RehearsedAnswer> {
  return transaction(db, async (tx) => {
    const answers: RehearsedAnswer[] = [];
    for (const { link_id, push_facts } of await lockFacts(tx, integration)) {
      let facts = push_facts ?? noPushFacts;
      for (const seen of events) {
        const observed = observe(facts, seen);
        facts = observed.facts;
        answers.push(observed.answer);
      }
      await saveFacts(tx, link_id, facts);
    }
    if (answers.includes('fail')) return 'fail';
    return answers.length > 0 && answers.every((answer) => answer === 'duplicate') ? 'duplicate' : 'new';
  });
}

/** The next new event of the brand is refused twice. */
export const startRetryTest = (tx: Tx, { link_id, push_facts }: OnboardingLink, now: number) =>
  saveFacts(tx, link_id, { ...(push_facts ?? noPushFacts), retry: { startedAt: now, attempts: [] } });

/** The links for which an event shows something now. */
async function lockFacts(tx: Tx, integration: string): Promise<OnboardingLink[]> {
  const links = await rowsOf(tx)<OnboardingLink>(
    `select ${columns} from onboarding_links where integration = $1 and live_at is null order by link_id for update`,
    [integration],
  );
  return links.filter((link) => linkRefusal(link, 'sender', 'show') === undefined);
}

const saveFacts = (tx: Tx, linkId: string, facts: PushFacts) => change(tx, linkId, 'push_facts = $2', facts);

/** Of each side, so that neither leaves the other without a word. */
export const mostComments = 200;

/** False if the side has written too many already. */
export const addComment = (tx: Tx, linkId: string, comment: Omit<OnboardingComment, 'at'>) =>
  change(
    tx,
    linkId,
    `comments = comments || (jsonb_build_object('at', now()) || $2::jsonb)`,
    comment,
    `jsonb_array_length(jsonb_path_query_array(comments, '$[*] ? (@.side == "${comment.side}")')) < ${mostComments}`,
  );

/** Links whose partner may wait for an operator. */
export const openLinks = (db: Pool) =>
  select(db, `revoked_at is null and expires_at > now() and (ready_at is not null or comments <> '[]')`);
