import type { Account } from './account.ts';
import { brazeAccount } from './braze.ts';
import { brevoAccount } from './brevo.ts';
import { dynamicsAccount } from './dynamics.ts';
import { hubspotAccount } from './hubspot.ts';
import { klaviyoAccount } from './klaviyo.ts';
import { mailchimpAccount } from './mailchimp.ts';
import { salesforceAccount } from './salesforce.ts';

/** A simulated account of every preset. */
export const accounts: readonly (() => Account)[] = [
  brazeAccount,
  brevoAccount,
  dynamicsAccount,
  hubspotAccount,
  klaviyoAccount,
  mailchimpAccount,
  salesforceAccount,
];
