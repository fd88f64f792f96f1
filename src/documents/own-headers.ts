import { z } from 'zod';
import { isObject } from '../terms.ts';
import { crossChecked } from './checked.ts';
import { headerName, secretText } from './scalars.ts';

/** Headers of the connection and the message itself: only the HTTP client sets them, because others could be used to smuggle requests. */
const ofTheConnection: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Further headers of a brand's requests. Their values are often credentials, so all are treated as such. */
export const ownHeadersSchema = crossChecked(z.record(headerName(), secretText()), (headers, report) => {
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if (lower === 'authorization') report({ message: 'belongs to auth' }, [name]);
    else if (ofTheConnection.has(lower)) report({ message: 'is set by the HTTP client and cannot be chosen' }, [name]);
    else if (seen.has(lower)) report({ message: 'is set twice; header names are not case-sensitive' }, [name]);
    seen.add(lower);
  }
});

/** Which of the headers the credentials set. */
export function setByAuth(auth: unknown, headers: unknown): string[] {
  if (!isObject(auth) || !isObject(headers)) return [];
  const own = Object.keys(isObject(auth.headers) ? auth.headers : {});
  if (auth.type === 'api_key' && auth.query === undefined) own.push(String(auth.header ?? 'X-API-Key'));
  const taken = new Set(own.map((name) => name.toLowerCase()));
  return Object.keys(headers).filter((name) => taken.has(name.toLowerCase()));
}
