import { Option } from 'commander';
import { onboardingRoutes } from '../api/routes/onboarding.ts';
import { onboardingLanguages } from '../store/onboarding.ts';
import { calling } from './call.ts';
import type { Command } from './command.ts';
import { positive } from './input.ts';

interface CreateOptions {
  readonly partner: string;
  readonly language: string;
  readonly days: number;
  readonly manyBrowsers?: boolean;
  readonly pull?: boolean;
  readonly push?: boolean;
  readonly brandId?: string;
  readonly timezone?: string;
  readonly country?: string;
  readonly deliver?: string[];
}

interface ApproveOptions {
  readonly anyway?: boolean;
  readonly deliver?: string[];
  readonly nowhere?: boolean;
}

export function define(onboard: Command): void {
  onboard.notes(`
Examples:
  innbound onboard create lisbon-grand --partner "Harbour PMS"
  innbound onboard create porto-bay --partner "Harbour PMS" --brand-id POR01 --timezone Europe/Lisbon --country PT
  innbound onboard approve onb_…`);
  calling(
    onboard
      .subcommand('create <integration>', 'create a link for one brand; its address is shown only once')
      .requiredOption('--partner <name>', 'who gets the link; shown on the page and in the audit log')
      .addOption(new Option('--language <code>', 'the language of the page').choices(onboardingLanguages).default('en'))
      .option('--days <n>', 'days until it expires, at most 90', positive, 14)
      .option('--many-browsers', 'allow several browsers, not only the first that opens it')
      .option('--pull', 'ask only for the API that we poll')
      .option('--push', 'ask only for events')
      .option('--brand-id <id>', 'create the brand: its id at the partner')
      .option('--timezone <zone>', 'create the brand: its time zone')
      .option('--country <code>', 'create the brand: its country')
      .option('--deliver <destination...>', 'create the brand: where its changes go'),
    onboardingRoutes,
    'onboarding.create',
    (integration: string, { brandId, timezone, country, deliver, pull, push, ...options }: CreateOptions) => ({
      params: { integration },
      body: {
        partner: options.partner,
        language: options.language,
        days: options.days,
        many_browsers: options.manyBrowsers,
        asks: pull === push ? undefined : [pull ? 'pull' : 'push'],
        ...((brandId ?? timezone) !== undefined && { brand: { brand_id: brandId, timezone, country, deliver } }),
      },
    }),
    { next: '\nThe address is shown only now: only its hash is stored.' },
  );
  calling(onboard.subcommand('list', 'list the links, newest first'), onboardingRoutes, 'onboarding.list', () => ({}), {
    none: 'No onboarding links.',
    columns: ['link_id', 'integration', 'partner', 'is_opened', 'is_complete', 'live_at', 'revoked_at', 'expires_at'],
  });
  calling(
    onboard
      .subcommand('approve <link_id>', 'the brand goes live: same address, rehearsal off, a first backfill')
      .option('--anyway', 'although the checklist has gaps')
      .option('--deliver <destination...>', 'where its bookings go; they wait in preview until they are released')
      .option('--nowhere', 'its bookings go nowhere, on purpose'),
    onboardingRoutes,
    'onboarding.approve',
    (link_id: string, { anyway, deliver, nowhere }: ApproveOptions) => ({
      params: { link_id },
      body: { anyway, deliver: nowhere ? [] : deliver },
    }),
  );
  calling(
    onboard.subcommand('revoke <link_id>', 'end a link at once'),
    onboardingRoutes,
    'onboarding.revoke',
    (link_id: string) => ({ params: { link_id } }),
  );
}
