import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAuth } from '../../../packages/partner-kit/src/cli/auth-file.ts';

test('auth of a document becomes auth of the check', () => {
  assert.deepEqual(checkAuth({ type: 'api_key', key: 'k' }), {
    type: 'api_key',
    in: 'header',
    name: 'X-API-Key',
    key: 'k',
  });
  assert.deepEqual(checkAuth({ type: 'api_key', key: 'k', query: 'q' }), {
    type: 'api_key',
    in: 'query',
    name: 'q',
    key: 'k',
  });
  const oauth = {
    type: 'oauth2' as const,
    token_url: 'https://t.example',
    client_id: 'c',
    client_secret: 's',
    client_auth: 'post' as const,
    scopes: ['a', 'b'],
    params: { x: 'y' },
  };
  assert.deepEqual(checkAuth({ ...oauth, grant: 'client_credentials' }), {
    type: 'oauth2',
    tokenUrl: 'https://t.example',
    clientId: 'c',
    clientSecret: 's',
    clientAuth: 'post',
    parameters: { x: 'y', scope: 'a b' },
  });
  const consent = {
    grant: 'authorization_code' as const,
    authorize_url: 'https://a.example',
    authorize_params: {},
    pkce: true,
  };
  assert.ok('wrong' in checkAuth({ ...oauth, ...consent }));
});
