import type { CheckAuth } from '../../packages/partner-kit/src/check/index.ts';
import type { AuthDocument } from '../documents/auth.ts';

/** The credentials of an integration, as the checker takes them. */
export function checkAuth(auth: AuthDocument): CheckAuth | { readonly wrong: string } {
  switch (auth.type) {
    case 'none':
    case 'bearer':
    case 'basic':
    case 'hmac':
      return auth;
    case 'api_key': {
      const [place, name] =
        auth.query === undefined ? (['header', auth.header ?? 'X-API-Key'] as const) : (['query', auth.query] as const);
      return { type: 'api_key', in: place, name, key: auth.key };
    }
    case 'custom':
      return { type: 'custom', ...present({ headers: auth.headers, query: auth.query, body: auth.body }) };
    case 'oauth2':
      if (auth.grant === 'authorization_code' || auth.client_secret === undefined) {
        return {
          wrong:
            'The check cannot give consent in a browser. Get an access token by hand and use type: bearer for the check.',
        };
      }
      return {
        type: 'oauth2',
        tokenUrl: auth.token_url,
        clientId: auth.client_id,
        clientSecret: auth.client_secret,
        clientAuth: auth.client_auth,
        parameters: {
          ...auth.params,
          ...(auth.scopes.length === 0 ? {} : { scope: auth.scopes.join(' ') }),
          ...(auth.audience === undefined ? {} : { audience: auth.audience }),
        },
      };
  }
}

function present<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
