import { peopleConformance } from './people-conformance.ts';
import { hubspotAccount } from './vendors/hubspot.ts';
import { klaviyoAccount } from './vendors/klaviyo.ts';
import { mailchimpAccount } from './vendors/mailchimp.ts';
import { salesforceAccount } from './vendors/salesforce.ts';

for (const account of [hubspotAccount, klaviyoAccount, mailchimpAccount, salesforceAccount]) peopleConformance(account);
