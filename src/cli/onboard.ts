import { Option } from 'commander';
import { InnboundError } from '../errors.ts';
import { stateOf } from '../onboard/states.ts';
import { checksOf, createLink, goLive, linkRequest, onboardingLanguages, revoke } from '../operations/onboarding.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { findLink, listLinks, type OnboardingLink } from '../store/operate/onboarding.ts';
import { audited, type Command, type CommonOptions, commandLineUser } from './command.ts';
import { positive } from './input.ts';
import { answer, printJson, say, show, showList } from './io.ts';

interface CreateOptions extends CommonOptions {
  readonly partner: string;
  readonly language: string;
  readonly days: number;
  readonly manyBrowsers?: boolean;
  readonly pull?: boolean;
  readonly push?: boolean;
  readonly brandId?: string;
  readonly timezone?: string;
  readonly country?: string;
  readonly deliver?: readonly string[];
}

export function define(onboard: Command): void {
  onboard.notes(`
Examples:
  innbound onboard create lisbon-grand --partner "Harbour PMS"
  innbound onboard create porto-bay --partner "Harbour PMS" --brand-id POR01 --timezone Europe/Lisbon --country PT
  innbound onboard approve onb_…`);
  onboard
    .subcommand('create <integration>', 'create a link for one brand; its address is shown only once')
    .requiredOption('--partner <name>', 'who gets the link; shown on the page and in the audit log')
    .addOption(new Option('--language <code>', 'the language of the page').choices(onboardingLanguages).default('en'))
    .option('--days <n>', 'days until it expires, at most 90', positive, 14)
    .option('--many-browsers', 'not only the first browser that opens it may use it')
    .option('--pull', 'ask only for the API that we poll')
    .option('--push', 'ask only for events')
    .option('--brand-id <id>', 'create the brand: its id at the partner')
    .option('--timezone <zone>', 'create the brand: its time zone')
    .option('--country <code>', 'create the brand: its country')
    .option('--deliver <destination...>', 'create the brand: where its changes go')
    .inRuntime(async (runtime, integration: string, options: CreateOptions) => {
      const { link, url } = await createLink(runtime, integration, requestOf(options), commandLineUser());
      await audited(runtime, 'onboarding.create', { integration, target: { link: link.link_id } });
      if (options.json) return printJson({ link_id: link.link_id, url, expires_at: link.expires_at });
      show(url);
      say(`\nUntil ${link.expires_at.toISOString()}. The address is shown only now: only its hash is stored.`);
    });
  onboard.subcommand('list', 'list the links, newest first').inRuntime(async (runtime, options: CommonOptions) => {
    const links = (await listLinks(runtime.pool, undefined)).map((link) => ({ ...link, ...checksOf(runtime, link) }));
    showList(options, links, {
      none: 'No onboarding links.',
      head: ['link', 'brand', 'partner', 'state', 'done', 'expires'],
      line: (one) => [
        one.link_id,
        one.integration,
        one.partner,
        shownState(one),
        `${one.checks.filter(({ state }) => state === 'done').length} of ${one.checks.length}`,
        one.expires_at.toISOString(),
      ],
    });
  });
  const goes = 'the brand goes live: same address, rehearsal off, a first backfill';
  acting(onboard, 'approve', goes, async (runtime, link, { anyway = false, deliver: to, nowhere }) => {
    const deliver = nowhere ? [] : to;
    const approval = { pastDays: 30, futureDays: 365, anyway, deliver };
    return { live: true, ...(await goLive(runtime, link, approval, commandLineUser())) };
  })
    .option('--anyway', 'although the checklist has gaps')
    .option('--deliver <destination...>', 'where its bookings go, held in preview until they are released')
    .option('--nowhere', 'its bookings go nowhere, on purpose');
  acting(onboard, 'revoke', 'end a link at once', async (runtime, { link_id }) => ({
    revoked: await revoke(runtime, link_id),
  }));
}

interface ActOptions extends CommonOptions {
  readonly anyway?: boolean;
  readonly deliver?: readonly string[];
  readonly nowhere?: boolean;
}

/** Acts on one link, and prints what came of it. */
function acting(
  onboard: Command,
  verb: string,
  description: string,
  act: (runtime: Runtime, link: OnboardingLink, options: ActOptions) => Promise<object>,
): Command {
  return onboard
    .subcommand(`${verb} <link_id>`, description)
    .inRuntime(async (runtime, id: string, options: ActOptions) => {
      const link = await findLink(runtime.pool, id);
      if (link === undefined) throw new InnboundError('operate.not_found', `There is no onboarding link ${id}.`);
      const done = await act(runtime, link, options);
      await audited(runtime, `onboarding.${verb}`, { integration: link.integration, target: { link: id } });
      answer(options, { link_id: id, ...done }, `${link.integration}: ${verb} done.`);
    });
}

function requestOf({ brandId, timezone, country, deliver, pull, push, manyBrowsers, ...options }: CreateOptions) {
  const { partner, language, days } = options;
  const parsed = linkRequest.safeParse({
    partner,
    language,
    days,
    many_browsers: manyBrowsers,
    asks: pull === push ? undefined : [pull ? 'pull' : 'push'],
    brand: (brandId ?? timezone) === undefined ? undefined : { brand_id: brandId, timezone, country, deliver },
  });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new InnboundError('operate.invalid_input', `${problems.join('; ')}.`);
}

function shownState(link: OnboardingLink): string {
  const state = stateOf(link);
  return state === 'preparing' ? (link.is_opened ? 'opened' : 'not opened') : state;
}
