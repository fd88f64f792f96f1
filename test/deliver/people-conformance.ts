import { peopleAndAddresses } from './people/addresses.ts';
import { consentAndErasure } from './people/consent.ts';
import { historyOfPeople } from './people/history.ts';
import { staysAndMoments } from './people/stays.ts';
import type { Account } from './vendors/account.ts';

/**
 * The part of the conformance suite for destinations that keep people: run against an account that behaves as the vendor documents,
 * through the real outbox. It checks what the account holds afterwards, and that the vendor would have refused no request.
 */
export function peopleConformance(make: () => Account): void {
  staysAndMoments(make);
  peopleAndAddresses(make);
  consentAndErasure(make);
  historyOfPeople(make);
}
