import { peopleConformance } from './people-conformance.ts';
import { accounts } from './vendors/all.ts';

for (const account of accounts) peopleConformance(account);
