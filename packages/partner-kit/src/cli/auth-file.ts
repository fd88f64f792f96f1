import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument } from 'yaml';
import type { CheckAuth } from '../check/auth.ts';
import { readInput, type Shell } from './shell.ts';

/** Credentials in the format of `auth` in an integration. */
type AuthDocument = Readonly<Record<string, unknown>>;

const required: Readonly<Record<CheckAuth['type'], readonly string[]>> = {
  none: [],
  bearer: ['token'],
  basic: ['username', 'password'],
  api_key: ['key'],
  hmac: ['secret'],
  custom: [],
  oauth2: ['token_url', 'client_id'],
};

/** The credentials of a document, if the check can use them. */
export function checkAuth(auth: AuthDocument): CheckAuth | { readonly wrong: string } {
  const type = auth.type as CheckAuth['type'];
  if (!Object.hasOwn(required, type)) return { wrong: `type must be one of ${Object.keys(required).join(', ')}` };
  const missing = required[type].find((key) => typeof auth[key] !== 'string');
  if (missing !== undefined) return { wrong: `${missing} is missing or not a text` };
  const isByPerson = auth.grant === 'authorization_code' || typeof auth.client_secret !== 'string';
  if (type === 'oauth2' && isByPerson) {
    return {
      wrong:
        'the check cannot give consent in a browser: get an access token by hand and use type: bearer for the check',
    };
  }
  return auth as unknown as CheckAuth;
}

/** Reads a file of credentials, in which `${env:NAME}` and `${file:PATH}` stand for secrets. */
export async function readAuthFile(shell: Shell, file: string): Promise<CheckAuth> {
  const refuse = (why: string) => shell.refuse('operate.usage', `${file}: ${why}.`);
  const yaml = parseDocument((await readInput(shell, file)).slice(0, 65_536), { uniqueKeys: false });
  const [fault] = yaml.errors;
  // The message of a fault may quote a credential: report only the position.
  if (fault !== undefined) {
    const at = fault.linePos?.[0];
    throw shell.refuse('operate.usage', `${file} is neither YAML nor JSON. See line ${at?.line}, column ${at?.col}.`);
  }
  const document: unknown = yaml.toJS({ maxAliasCount: 100 });
  if (typeof document !== 'object' || document === null) throw refuse('type is missing');
  const missing: string[] = [];
  const resolved = await resolve(document, path.dirname(file), missing);
  if (missing.length > 0) throw refuse(`these secrets are missing: ${missing.join(', ')}`);
  const auth = checkAuth(resolved as AuthDocument);
  if ('wrong' in auth) throw refuse(auth.wrong);
  return auth;
}

const reference = /\$\{(env|file):([^}]+)\}/g;

async function resolve(value: unknown, folder: string, missing: string[]): Promise<unknown> {
  if (typeof value === 'string') {
    const values = new Map<string, string>();
    for (const [whole, kind, target = ''] of value.matchAll(reference)) {
      const secret =
        kind === 'env'
          ? process.env[target]
          : await readFile(path.resolve(folder, target), 'utf8').then(
              (text) => text.trimEnd(),
              () => undefined,
            );
      if (!secret) missing.push(whole);
      values.set(whole, secret ?? '');
    }
    return value.replace(reference, (whole) => values.get(whole) ?? '');
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolve(item, folder, missing)));
  const entries = Object.entries(value).map(async ([key, item]) => [key, await resolve(item, folder, missing)]);
  return Object.fromEntries(await Promise.all(entries));
}
