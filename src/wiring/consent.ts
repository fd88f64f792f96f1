import type { ApiPorts } from '../api/api.ts';
import type { Ground } from '../ground.ts';
import { type ConsentLink, consentLink, consentPage, finishConsent } from '../intake/pull/consent.ts';
import { systemClock } from '../kit/clock.ts';
import type { IntegrationName } from '../terms.ts';
import { publicUrl } from './endpoints.ts';
import { pullPorts } from './pull.ts';

export async function linkFor(ground: Ground, integration: string, by: string): Promise<ConsentLink> {
  const redirectUri = `${await publicUrl(ground)}/oauth/callback`;
  return consentLink(pullPorts(ground), integration as IntegrationName, redirectUri, by);
}

export function consentPorts(ground: Ground): ApiPorts['consent'] {
  return {
    now: systemClock.now,
    link: (integration, by) => linkFor(ground, integration, by),
    finish: async (query) => {
      const consented = await finishConsent(pullPorts(ground), query);
      if (consented.kind === 'ok') ground.wake.signal('schedules');
      return consentPage(consented);
    },
  };
}
