import type { Command } from 'commander';
import { registerPartnerCheck } from './partner-check.ts';
import { registerPartnerSend } from './partner-send.ts';
import { registerPartnerSimulate } from './partner-simulate.ts';

/** Commands for partners: they need no workspace and no store. */
export function registerPartner(program: Command): void {
  const partner = program
    .command('partner')
    .description('tools for partners: a simulated PMS, checks for their API and sender, an event sender');
  registerPartnerSimulate(partner);
  registerPartnerCheck(partner);
  registerPartnerSend(partner);
}
