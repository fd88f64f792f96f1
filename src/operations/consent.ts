import { pullPorts } from '../composition/pull.ts';
import { type ConsentLink, consentLink, consentPage, finishConsent } from '../outbound/auth/consent.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';
import { publicUrl } from './endpoints.ts';

/** The link with which a brand authorizes our access. */
export async function linkFor(runtime: Runtime, integration: string, by: string): Promise<ConsentLink> {
  const redirectUri = `${await publicUrl(runtime)}/oauth/callback`;
  return consentLink(pullPorts(runtime), integration as IntegrationName, redirectUri, by);
}

/** Handles the partner's redirect and returns the page to show. */
export async function consentAnswer(runtime: Runtime, query: URLSearchParams): Promise<ReturnType<typeof consentPage>> {
  const consented = await finishConsent(pullPorts(runtime), query);
  if (consented.kind === 'ok') runtime.wake.signal('schedules');
  return consentPage(consented);
}
