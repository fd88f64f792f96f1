import type { FastifyInstance } from 'fastify';
import type { Api } from './route.ts';

const longestBytes = 16 * 1024;

/** Where the identity provider reports that a person signed out there: a form with a signed logout token. */
export function registerOidcLogout(app: FastifyInstance, { oidc }: Api): void {
  // In a separate scope: no other route accepts forms.
  void app.register(async (scope) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.post('/sign-in/back-channel-logout', { bodyLimit: longestBytes }, async (request, reply) => {
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
      const about = { address: request.ip, requestId: request.id };
      const out = await oidc.logout(form.get('logout_token') ?? '', about);
      reply.header('cache-control', 'no-store');
      if (out.kind === 'done') return reply.code(200).send('');
      if (out.kind === 'wait') reply.header('retry-after', out.seconds);
      return reply.code(out.kind === 'wait' ? 429 : 400).send({ error: 'invalid_request', error_description: out.why });
    });
  });
}
