import type { ApiPorts } from '../api/api.ts';
import { type ConsentLink, consentLink, consentPage, finishConsent } from '../intake/pull/consent.ts';
import { publicUrl } from '../operations/endpoints.ts';
import { pullPorts } from '../ports/pull.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';

export async function linkFor(runtime: Runtime, integration: string, by: string): Promise<ConsentLink> {
  const redirectUri = `${await publicUrl(runtime)}/oauth/callback`;
  return consentLink(pullPorts(runtime), integration as IntegrationName, redirectUri, by);
}

export function consentPorts(runtime: Runtime): ApiPorts['consent'] {
  return {
    now: runtime.clock.now,
    link: (integration, by) => linkFor(runtime, integration, by),
    finish: async (query) => {
      const consented = await finishConsent(pullPorts(runtime), query);
      if (consented.kind === 'ok') runtime.wake.signal('schedules');
      return consentPage(consented);
    },
  };
}
