import { bodyObject } from '../exchange.ts';
import { type Guard, sameText } from './guard.ts';
import { hmacGuard } from './hmac.ts';
import type { LoginServer } from './login.ts';
import type { SimulatorAuth } from './method.ts';
import type { OAuthServer } from './oauth.ts';

export function guardFor(
  auth: SimulatorAuth,
  servers: { readonly oauth: OAuthServer | undefined; readonly login: LoginServer | undefined },
  now: () => number,
): Guard {
  const { oauth, login } = servers;
  switch (auth.type) {
    case 'none':
      return () => undefined;
    case 'bearer':
      return ({ headers }) => expect(headers.authorization, `Bearer ${auth.token}`, 'bearer token');
    case 'api_key':
      return ({ headers, query }) => {
        const given = auth.in === 'header' ? headers[auth.name.toLowerCase()] : (query.get(auth.name) ?? undefined);
        return expect(given, auth.key, `API key in ${auth.in} ${auth.name}`);
      };
    case 'basic':
      return ({ headers }) => expect(headers.authorization, basicOf(auth), 'Basic login');
    case 'login':
      return login?.guard ?? (() => 'There is no login.');
    case 'oauth2':
      return ({ headers }) => {
        const token = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
        if (token === undefined) return 'The bearer token is missing.';
        return oauth?.isLive(token) === true ? undefined : 'The access token is unknown or has expired.';
      };
    case 'hmac':
      return hmacGuard(auth, now);
    case 'custom':
      return (exchange) => {
        if (auth.basic !== undefined) {
          const denied = expect(exchange.headers.authorization, basicOf(auth.basic), 'Basic login');
          if (denied !== undefined) return denied;
        }
        for (const [name, value] of Object.entries(auth.headers ?? {})) {
          const denied = expect(exchange.headers[name.toLowerCase()], value, `header ${name}`);
          if (denied !== undefined) return denied;
        }
        for (const [name, value] of Object.entries(auth.query ?? {})) {
          const denied = expect(exchange.query.get(name) ?? undefined, value, `query parameter ${name}`);
          if (denied !== undefined) return denied;
        }
        const form = new URLSearchParams(exchange.bodyText);
        const body = bodyObject(exchange.bodyText) ?? Object.fromEntries(form);
        for (const [name, value] of Object.entries(auth.body ?? {})) {
          const given = body[name];
          const denied = expect(typeof given === 'string' ? given : undefined, value, `body field ${name}`);
          if (denied !== undefined) return denied;
        }
        return undefined;
      };
  }
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function expect(given: string | undefined, right: string, what: string): string | undefined {
  if (given === undefined || given === '') return `The ${what} is missing.`;
  return sameText(given, right) ? undefined : `The ${what} is wrong.`;
}
