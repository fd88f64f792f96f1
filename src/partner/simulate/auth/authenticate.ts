import { bodyObject } from '../exchange.ts';
import { type Guard, sameText } from './guard.ts';
import { hmacGuard } from './hmac.ts';
import type { SimulatorAuth } from './method.ts';
import type { OAuthServer } from './oauth.ts';

export function guardFor(auth: SimulatorAuth, oauth: OAuthServer | undefined, now: () => number): Guard {
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
    case 'basic': {
      const right = `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;
      return ({ headers }) => expect(headers.authorization, right, 'user name and password');
    }
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
        for (const [name, value] of Object.entries(auth.headers ?? {})) {
          const denied = expect(exchange.headers[name.toLowerCase()], value, `header ${name}`);
          if (denied !== undefined) return denied;
        }
        for (const [name, value] of Object.entries(auth.query ?? {})) {
          const denied = expect(exchange.query.get(name) ?? undefined, value, `query parameter ${name}`);
          if (denied !== undefined) return denied;
        }
        const body = bodyObject(exchange.bodyText) ?? {};
        for (const [name, value] of Object.entries(auth.body ?? {})) {
          const given = body[name];
          const denied = expect(typeof given === 'string' ? given : undefined, value, `body field ${name}`);
          if (denied !== undefined) return denied;
        }
        return undefined;
      };
  }
}

function expect(given: string | undefined, right: string, what: string): string | undefined {
  if (given === undefined || given === '') return `The ${what} is missing.`;
  return sameText(given, right) ? undefined : `The ${what} is wrong.`;
}
