import type { Command } from 'commander';
import { registerPartnerCheck } from './partner-check.ts';
import { registerPartnerSend } from './partner-send.ts';
import { registerPartnerSimulate } from './partner-simulate.ts';

/** Commands for partners: they need no workspace and no store. */
export function define(partner: Command): void {
  registerPartnerSimulate(partner);
  registerPartnerCheck(partner);
  registerPartnerSend(partner);
}
