import { peopleConformance } from './people-conformance.ts';
import { brazeAccount } from './vendors/braze.ts';
import { brevoAccount } from './vendors/brevo.ts';
import { dynamicsAccount } from './vendors/dynamics.ts';
import { hubspotAccount } from './vendors/hubspot.ts';
import { klaviyoAccount } from './vendors/klaviyo.ts';
import { mailchimpAccount } from './vendors/mailchimp.ts';
import { salesforceAccount } from './vendors/salesforce.ts';

const accounts = [
  brazeAccount,
  brevoAccount,
  dynamicsAccount,
  hubspotAccount,
  klaviyoAccount,
  mailchimpAccount,
  salesforceAccount,
];
for (const account of accounts) peopleConformance(account);
