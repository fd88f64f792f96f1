import { pullPorts } from '../../composition/pull.ts';
import { consentLink, consentPage, finishConsent } from '../../core/outbound/auth/consent.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName } from '../../terms.ts';
import { publicUrl } from './endpoints.ts';
import { withLink } from './onboarding.ts';

/** The link with which a brand authorizes our access. The person ends at `returnTo`, a path of ours, or at a page that says what happened. */
export async function linkFor(runtime: Runtime, integration: string, requestedBy: string, returnTo?: string) {
  const redirectUri = `${await publicUrl(runtime)}/oauth/callback`;
  const asked = { redirectUri, requestedBy, ...(returnTo !== undefined && { returnTo }) };
  const link = await consentLink(pullPorts(runtime), integration as IntegrationName, asked);
  if (link.kind === 'unavailable') throw new InnboundError(link.code, link.message);
  return { url: link.url, expires_at: new Date(runtime.clock.now() + link.validMs) };
}

/** Handles the partner's redirect and returns the page to show, or the path to go to. */
export async function consentAnswer(
  runtime: Runtime,
  query: URLSearchParams,
): Promise<ReturnType<typeof consentPage> | string> {
  const consented = await finishConsent(pullPorts(runtime), query, async (returnTo, store) => {
    const [, linkId] = /^\/connect\/(\w+)$/.exec(returnTo ?? '') ?? [];
    if (linkId === undefined) return store();
    return withLink(runtime, linkId, 'partner', 'consent', store).catch((error: unknown) => {
      if (error instanceof InnboundError) return error.message.replace(/\.$/, '');
      throw error;
    });
  });
  if (consented.kind === 'ok') runtime.wake.signal('schedules');
  if (consented.returnTo === undefined) return consentPage(consented);
  return `${consented.returnTo}?access=${consented.kind === 'ok' ? 'granted' : 'refused'}`;
}
