import type { Json } from '../../terms.ts';
import type { CheckAuth } from './auth.ts';

/** `auth` of an integration, validated, with its secrets resolved. */
export type DocumentAuth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | {
      readonly type: 'api_key';
      readonly key: string;
      readonly header?: string | undefined;
      readonly query?: string | undefined;
    }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly type: 'oauth2';
      readonly grant: 'client_credentials' | 'authorization_code';
      readonly token_url: string;
      readonly client_id: string;
      readonly client_secret?: string | undefined;
      readonly client_auth: 'basic' | 'post';
      readonly scopes: readonly string[];
      readonly audience?: string | undefined;
      readonly params: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'hmac';
      readonly secret: string;
      readonly algorithm: 'sha256' | 'sha512';
      readonly encoding: 'hex' | 'base64';
      readonly sign: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'custom';
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly query?: Readonly<Record<string, string>> | undefined;
      readonly body?: Readonly<Record<string, Json>> | undefined;
    };

export function fromDocument(auth: DocumentAuth): CheckAuth | { readonly wrong: string } {
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
