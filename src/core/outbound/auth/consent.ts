import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi';
import type { ErrorCode } from '../../../errors.ts';
import { foreignText } from '../../../kit/foreign-text.ts';
import { escapeHtml } from '../../../kit/html.ts';
import type { IntegrationName } from '../../../terms.ts';
import type { OAuth2 } from '../../documents/pull.ts';
import type { AskPorts, PendingConsent } from '../ask/ports.ts';
import { identityOf } from './oauth2.ts';
import { requestToken } from './token-request.ts';

/** Long enough to reach the person who may consent; short enough that a leaked link is useless soon. */
const lifetimeMs = 30 * 60_000;

export type ConsentLink =
  | { readonly kind: 'ok'; readonly url: string; readonly validMs: number }
  | { readonly kind: 'unavailable'; readonly code: ErrorCode; readonly message: string };

type Consented = Pick<PendingConsent, 'returnTo'> &
  (
    | { readonly kind: 'ok'; readonly integration: IntegrationName }
    | {
        readonly kind: 'refused';
        readonly integration?: IntegrationName;
        readonly code: ErrorCode;
        readonly message: string;
      }
  );

type CodeGrant = Extract<OAuth2, { grant: 'authorization_code' }>;
type Ports = Pick<AskPorts, 'plan' | 'tokens' | 'http' | 'clock' | 'partners'>;

/** The link where somebody at the brand grants access (RFC 6749, 4.1, with PKCE S256). */
export async function consentLink(
  ports: Ports,
  integration: IntegrationName,
  asked: Pick<PendingConsent, 'redirectUri' | 'requestedBy' | 'returnTo'>,
): Promise<ConsentLink> {
  const oauth = await codeGrant(ports, integration);
  if (oauth.kind === 'unavailable') return oauth;
  const { settings } = oauth;
  const state = generateRandomState();
  const verifier = settings.pkce ? generateRandomCodeVerifier() : undefined;
  await ports.tokens.saveConsent({
    state,
    integration,
    ...(verifier !== undefined && { verifier }),
    ...asked,
  });
  const url = new URL(settings.authorize_url);
  const parameters: Record<string, string> = {
    ...settings.authorize_params,
    response_type: 'code',
    client_id: settings.client_id,
    redirect_uri: asked.redirectUri,
    state,
    ...(settings.scopes.length > 0 && { scope: settings.scopes.join(' ') }),
    ...(settings.audience !== undefined && { audience: settings.audience }),
    ...(verifier !== undefined && {
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { kind: 'ok', url: url.href, validMs: lifetimeMs };
}

/**
 * Handles the redirect back from the partner. The state can be used once, whatever the result. `guarded` stores the tokens, or says why the
 * one who asked for the consent may not change the brand's access any more.
 */
export async function finishConsent(
  ports: Ports,
  query: URLSearchParams,
  guarded: Guarded = (_, store) => store(),
): Promise<Consented> {
  const pending = await ports.tokens.takeConsent(query.get('state') ?? '', lifetimeMs);
  if (pending === undefined) {
    return refused('this link was already used, has expired (30 minutes), or was not issued here');
  }
  const { returnTo } = pending;
  return { ...(await redeem(ports, pending, query, guarded)), ...(returnTo !== undefined && { returnTo }) };
}

type Guarded = (returnTo: string | undefined, store: () => Promise<undefined>) => Promise<string | undefined>;

async function redeem(
  ports: Ports,
  { integration, redirectUri, verifier, returnTo }: PendingConsent,
  query: URLSearchParams,
  guarded: Guarded,
): Promise<Consented> {
  const error = query.get('error');
  if (error !== null) {
    const why = foreignText(`${error} ${query.get('error_description') ?? ''}`);
    return refused(`the partner refused consent: ${why}`, integration);
  }
  const code = query.get('code');
  if (code === null || code === '') return refused('the partner sent no authorization code', integration);
  const oauth = await codeGrant(ports, integration);
  if (oauth.kind === 'unavailable') return refused(oauth.message, integration);
  const got = await requestToken(ports, oauth.settings, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    ...(verifier !== undefined && { code_verifier: verifier }),
  });
  if (got.kind !== 'renewed') return refused(`the authorization code was not accepted: ${got.message}`, integration);
  const why = await guarded(returnTo, async () => {
    await ports.tokens.save(oauth.account, identityOf(oauth.settings), got.tokens);
    return undefined;
  });
  if (why !== undefined) return refused(why, integration);
  await ports.partners.authWorked(integration);
  return { kind: 'ok', integration };
}

function refused(message: string, integration?: IntegrationName): Consented {
  return { kind: 'refused', code: 'pull.consent_refused', message, ...(integration !== undefined && { integration }) };
}

async function codeGrant(
  ports: Pick<AskPorts, 'plan'>,
  integration: IntegrationName,
): Promise<
  { kind: 'ok'; settings: CodeGrant; account: IntegrationName } | Extract<ConsentLink, { kind: 'unavailable' }>
> {
  const planned = await ports.plan(integration);
  if (planned.kind === 'unavailable') return planned;
  const { auth, account } = planned.plan.settings;
  if (auth.type === 'oauth2' && auth.grant === 'authorization_code') return { kind: 'ok', settings: auth, account };
  const message = `${integration} does not use the authorization code grant: no consent is needed`;
  return { kind: 'unavailable', code: 'pull.consent_refused', message };
}

/** The page shown at the end of the consent flow: what happened and what to do next. */
export function consentPage(consented: Consented): { readonly status: number; readonly html: string } {
  const ok = consented.kind === 'ok';
  const title = ok ? 'Access was granted' : 'Access was not granted';
  const text = ok
    ? 'Innbound can now read the reservations. You may close this page.'
    : `${consented.message}. Ask for a new link and open it in one go.`;
  return { status: ok ? 200 : 400, html: page(title, text) };
}

function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<body style="font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem">
<h1 style="font-size: 1.6rem">${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
</body>
</html>
`;
}
