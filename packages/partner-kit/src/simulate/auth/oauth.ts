import { createHash, randomBytes } from 'node:crypto';
import { escapeHtml } from '../../escape.ts';
import { type Answer, type Exchange, json } from '../exchange.ts';
import { type Guard, type OAuth2Settings, sameText, type TokenServer } from './guard.ts';

interface Code {
  readonly redirectUri: string;
  readonly challenge: string | undefined;
  readonly expiresAt: number;
}

/**
 * A small OAuth 2 server: client credentials, and authorization code with PKCE. Refresh tokens are single-use: a second use
 * means that one was stolen or lost, and revokes all tokens of the same consent.
 */
export class OAuthServer implements TokenServer {
  readonly #settings: OAuth2Settings;
  readonly #now: () => number;
  readonly #codes = new Map<string, Code>();
  readonly #access = new Map<string, { readonly expiresAt: number; readonly family: string }>();
  readonly #refresh = new Map<string, { readonly family: string; readonly used: boolean }>();
  constructor(settings: OAuth2Settings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  readonly guard: Guard = ({ headers }) => {
    const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return 'The bearer token is missing.';
    const isLive = (this.#access.get(token)?.expiresAt ?? 0) > this.#now();
    return isLive ? undefined : 'The access token is unknown or has expired.';
  };

  /** Refresh tokens stay valid. */
  expireAll(): void {
    this.#access.clear();
  }

  handle(exchange: Exchange): Answer | undefined {
    const { method, path } = exchange;
    if (path === '/oauth/token' && method === 'POST') return this.#token(exchange);
    if (path === '/oauth/authorize' && method === 'GET')
      return this.#authorize(exchange.query, this.#settings.autoApprove === true);
    if (path === '/oauth/authorize' && method === 'POST')
      return this.#authorize(new URLSearchParams(exchange.bodyText), true);
    return undefined;
  }

  #authorize(asked: URLSearchParams, approved: boolean): Answer {
    const redirectUri = asked.get('redirect_uri') ?? '';
    if (asked.get('client_id') !== this.#settings.clientId || !URL.canParse(redirectUri)) {
      return refuse(400, 'invalid_request', 'client_id is not the registered one, or redirect_uri is not an address.');
    }
    const back = new URL(redirectUri);
    const state = asked.get('state');
    if (state !== null) back.searchParams.set('state', state);
    if (asked.get('response_type') !== 'code' || (asked.get('code_challenge_method') ?? 'S256') !== 'S256') {
      back.searchParams.set('error', 'invalid_request');
      return redirect(back);
    }
    if (!approved) return consentPage(asked);
    if (asked.get('decision') === 'deny') {
      back.searchParams.set('error', 'access_denied');
      return redirect(back);
    }
    const code = secret();
    this.#codes.set(code, {
      redirectUri,
      challenge: asked.get('code_challenge') ?? undefined,
      expiresAt: this.#now() + 60_000,
    });
    back.searchParams.set('code', code);
    return redirect(back);
  }

  #token(exchange: Exchange): Answer {
    const form = new URLSearchParams(exchange.bodyText);
    if (!this.#isClient(exchange.headers.authorization, form))
      return refuse(401, 'invalid_client', 'The client is unknown or its secret is wrong.');
    switch (form.get('grant_type')) {
      case 'client_credentials':
        return this.#issue(secret(), false);
      case 'authorization_code':
        return this.#byCode(form);
      case 'refresh_token':
        return this.#byRefresh(form.get('refresh_token') ?? '');
      default:
        return refuse(400, 'unsupported_grant_type', 'Use client_credentials, authorization_code or refresh_token.');
    }
  }

  #isClient(authorization: string | undefined, form: URLSearchParams): boolean {
    const basic = /^Basic (\S+)$/i.exec(authorization ?? '')?.[1];
    const [id = '', key = ''] =
      basic === undefined
        ? [form.get('client_id') ?? '', form.get('client_secret') ?? '']
        : Buffer.from(basic, 'base64').toString('utf8').split(':').map(formDecoded);
    return sameText(id, this.#settings.clientId) && sameText(key, this.#settings.clientSecret);
  }

  #byCode(form: URLSearchParams): Answer {
    const given = form.get('code') ?? '';
    const code = this.#codes.get(given);
    this.#codes.delete(given);
    if (code === undefined || code.expiresAt < this.#now())
      return refuse(400, 'invalid_grant', 'The code is unknown, used or too old.');
    if (code.redirectUri !== form.get('redirect_uri'))
      return refuse(400, 'invalid_grant', 'redirect_uri is not the one the code was sent to.');
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code.challenge !== undefined && code.challenge !== proof)
      return refuse(400, 'invalid_grant', 'code_verifier does not match.');
    return this.#issue(secret(), true);
  }

  #byRefresh(token: string): Answer {
    const known = this.#refresh.get(token);
    if (known === undefined) return refuse(400, 'invalid_grant', 'The refresh token is unknown.');
    if (known.used) {
      for (const [one, { family }] of this.#refresh) if (family === known.family) this.#refresh.delete(one);
      for (const [one, { family }] of this.#access) if (family === known.family) this.#access.delete(one);
      return refuse(400, 'invalid_grant', 'The refresh token was already used; ask for consent again.');
    }
    this.#refresh.set(token, { ...known, used: true });
    return this.#issue(known.family, true);
  }

  #issue(family: string, refreshable: boolean): Answer {
    const seconds = this.#settings.lifetimeSeconds ?? 300;
    const access = secret();
    this.#access.set(access, { expiresAt: this.#now() + seconds * 1000, family });
    for (const [one, { expiresAt }] of this.#access) if (expiresAt <= this.#now()) this.#access.delete(one);
    const answer = { access_token: access, token_type: 'Bearer', expires_in: seconds };
    if (!refreshable) return json(200, answer, { 'cache-control': 'no-store' });
    const refresh = secret();
    this.#refresh.set(refresh, { family, used: false });
    return json(200, { ...answer, refresh_token: refresh }, { 'cache-control': 'no-store' });
  }
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}

function redirect(to: URL): Answer {
  return { status: 302, headers: { location: to.href }, body: '' };
}

function refuse(status: number, error: string, description: string): Answer {
  return json(status, { error, error_description: description }, { 'cache-control': 'no-store' });
}

/** RFC 6749 requires clients to encode id and secret before Basic; clients that do not are accepted too. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The consent page: returns every parameter unchanged, with the decision. */
function consentPage(asked: URLSearchParams): Answer {
  const fields = [...asked].map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Allow access</title>
<body style="font:16px system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem">
<h1>Allow access to reservations?</h1>
<p><b>${escapeHtml(asked.get('client_id') ?? '')}</b> asks to read the reservations of this simulated hotel.</p>
<form method="post" action="/oauth/authorize">${fields.join('')}
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>
</body></html>`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  };
  return { status: 200, headers, body };
}
