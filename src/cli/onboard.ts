import { type Command, Option } from 'commander';
import { InnboundError } from '../errors.ts';
import { goLive } from '../operations/go-live.ts';
import { createLink, onboardingLanguages } from '../operations/onboarding.ts';
import { checksOf } from '../operations/onboarding-view.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { findLink, listLinks, type OnboardingLink, revokeLink } from '../store/operate/onboarding.ts';
import {
  audited,
  type CommonOptions,
  commandLineUser,
  common,
  printJson,
  say,
  show,
  showList,
  withRuntime,
} from './command.ts';
import { positive, shortText } from './option-values.ts';

interface CreateOptions extends CommonOptions {
  readonly partner: string;
  readonly language: (typeof onboardingLanguages)[number];
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
  onboard.addHelpText(
    'after',
    `
Examples:
  innbound onboard create lisbon-grand --partner "Harbour PMS"
  innbound onboard create porto-bay --partner "Harbour PMS" --brand-id POR01 --timezone Europe/Lisbon --country PT
  innbound onboard approve onb_…`,
  );
  common(onboard.command('create <integration>'))
    .description('create a link for one brand; its address is shown only once')
    .requiredOption('--partner <name>', 'who gets the link; shown on the page and in the audit log', shortText(80))
    .addOption(new Option('--language <code>', 'the language of the page').choices(onboardingLanguages).default('en'))
    .option('--days <n>', 'days until it expires, at most 90', positive, 14)
    .option('--many-browsers', 'not only the first browser that opens it may use it')
    .option('--pull', 'ask only for the API that we poll')
    .option('--push', 'ask only for events')
    .option('--brand-id <id>', 'create the brand: its id at the partner')
    .option('--timezone <zone>', 'create the brand: its time zone')
    .option('--country <code>', 'create the brand: its country')
    .option('--deliver <destination...>', 'create the brand: where its changes go')
    .action((integration: string, options: CreateOptions) =>
      withRuntime(options, 'onboard create', async (runtime) => {
        const { partner, language, days, manyBrowsers = false, pull, push } = options;
        const asks = (['push', 'pull'] as const).filter((one) => (pull === push ? true : options[one]));
        const brand = brandOf(options);
        const request = { integration, partner, language, days, asks, many_browsers: manyBrowsers, brand };
        const { link, url } = await createLink(runtime, request, commandLineUser());
        await audited(runtime, 'onboarding.create', { integration, target: { link: link.link_id } });
        if (options.json) return printJson({ link_id: link.link_id, url, expires_at: link.expires_at });
        show(url);
        say(
          `\nFor ${partner}, until ${link.expires_at.toISOString()}. The address is shown only now: only its hash is stored.`,
        );
      }),
    );
  common(onboard.command('list'))
    .description('list the links, newest first')
    .action((options: CommonOptions) =>
      withRuntime(options, 'onboard list', async ({ pool }) => {
        const links = (await listLinks(pool, undefined)).map(({ push_facts, pull_facts, ...link }) => ({
          ...link,
          ...checksOf({ ...link, push_facts, pull_facts }),
        }));
        showList(options, links, {
          none: 'No onboarding links.',
          head: ['link', 'brand', 'partner', 'state', 'done', 'expires'],
          line: (one) => [
            one.link_id,
            one.integration,
            one.partner,
            stateOf(one),
            `${one.checks.filter(({ state }) => state === 'done').length} of ${one.checks.length}`,
            one.expires_at.toISOString(),
          ],
        });
      }),
    );
  acting(
    onboard,
    'approve',
    'the brand goes live: same address, rehearsal off, a first backfill',
    async (runtime, link, options) => {
      const approval = { pastDays: 30, futureDays: 365, anyway: options.anyway ?? false };
      const { run_id } = await goLive(runtime, link, approval, commandLineUser());
      await audited(runtime, 'onboarding.approve', { integration: link.integration, target: { link: link.link_id } });
      if (options.json) return printJson({ link_id: link.link_id, live: true, run_id });
      show(`${link.integration} is live.`);
    },
  ).option('--anyway', 'although the checklist has gaps');
  acting(onboard, 'revoke', 'end a link at once', async (runtime, link, { json }) => {
    if (!(await revokeLink(runtime.pool, link.link_id))) {
      throw new InnboundError('operate.not_found', `The link ${link.link_id} was revoked before.`);
    }
    await audited(runtime, 'onboarding.revoke', { integration: link.integration, target: { link: link.link_id } });
    if (json) return printJson({ link_id: link.link_id, revoked: true });
    show(`Revoked ${link.link_id}.`);
  });
}

interface ActOptions extends CommonOptions {
  readonly anyway?: boolean;
}

function acting(
  onboard: Command,
  verb: string,
  description: string,
  act: (runtime: Runtime, link: OnboardingLink, options: ActOptions) => Promise<void>,
): Command {
  return common(onboard.command(`${verb} <link_id>`))
    .description(description)
    .action((id: string, options: ActOptions) =>
      withRuntime(options, `onboard ${verb}`, async (runtime) => {
        const link = await findLink(runtime.pool, id);
        if (link === undefined) throw new InnboundError('operate.not_found', `There is no onboarding link ${id}.`);
        await act(runtime, link, options);
      }),
    );
}

function brandOf({ brandId, timezone, country, deliver = [] }: CreateOptions) {
  if (brandId === undefined && timezone === undefined) return undefined;
  if (brandId === undefined || timezone === undefined) {
    throw new InnboundError('operate.invalid_input', 'A new brand needs --brand-id and --timezone.');
  }
  return { brand_id: brandId, timezone, country, deliver };
}

function stateOf({
  revoked_at,
  expires_at,
  live_at,
  ready_at,
  is_opened,
}: Omit<OnboardingLink, 'push_facts' | 'pull_facts'>): string {
  if (revoked_at !== null) return 'revoked';
  if (expires_at.getTime() <= Date.now()) return 'expired';
  if (live_at !== null) return 'live';
  return ready_at !== null ? 'ready' : is_opened ? 'opened' : 'not opened';
}
