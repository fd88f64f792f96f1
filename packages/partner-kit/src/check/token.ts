import { isObject } from '../json.ts';
import type { CheckAuth } from './auth.ts';
import type { PoliteClient, Seen } from './client.ts';

/** Fetches an access token with the client credentials; later requests use it. */
export async function fetchToken(auth: CheckAuth & { type: 'oauth2' }, client: PoliteClient): Promise<Seen> {
  const form = new URLSearchParams({ ...auth.parameters, grant_type: 'client_credentials' });
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  if (auth.clientAuth === 'post') {
    form.set('client_id', auth.clientId);
    form.set('client_secret', auth.clientSecret);
  } else {
    const pair = [auth.clientId, auth.clientSecret].map(encodeURIComponent).join(':');
    headers.Authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const url = new URL(auth.tokenUrl);
  const seen = await client.ask('an access token', { method: 'POST', url, headers, body: form.toString() }, 'none');
  const { json } = seen;
  if (isObject(json) && typeof json.access_token === 'string') client.token = json.access_token;
  return seen;
}
