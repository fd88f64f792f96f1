import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAuth } from '../../../packages/partner-kit/src/cli/auth-file.ts';

test('auth of a document is refused if the check cannot use it', () => {
  const oauth = { type: 'oauth2', token_url: 'https://t.example', client_id: 'c', client_secret: 's' };
  assert.deepEqual(checkAuth({ ...oauth, grant: 'client_credentials' }), { ...oauth, grant: 'client_credentials' });
  const wrong = (auth: object) => (checkAuth(auth as never) as { wrong?: string }).wrong;
  assert.match(wrong({ ...oauth, grant: 'authorization_code' }) ?? '', /consent in a browser/);
  assert.match(wrong({ ...oauth, client_secret: undefined }) ?? '', /consent in a browser/);
  assert.match(wrong({ type: 'api_key' }) ?? '', /key is missing/);
  assert.match(wrong({ type: 'saml' }) ?? '', /type must be one of/);
});
