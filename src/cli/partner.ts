import type { Command } from 'commander';
import { registerPartnerCheck } from './partner-check.ts';
import { registerPartnerSend } from './partner-send.ts';
import { registerPartnerSimulate } from './partner-simulate.ts';

/** The commands for the other side: they need no workspace and no store. */
export function registerPartner(program: Command): void {
  const partner = program
    .command('partner')
    .description('for partners: a PMS to test against, a check of their API and sender, a sender of events');
  registerPartnerSimulate(partner);
  registerPartnerCheck(partner);
  registerPartnerSend(partner);
}
