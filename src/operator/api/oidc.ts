import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../../kit/html.ts';
import { revokeSession } from '../store/tokens.ts';
import { cookieIn, isServedOverHttps, newCookie, secondsUntil, shownToken } from './caller.ts';
import type { Api } from './route.ts';
import { sendPlainPage } from './server.ts';

/** The addresses that an identity provider knows. */
export function registerOidc(app: FastifyInstance, api: Api): void {
  registerCallback(app, api);
  registerLogout(app, api);
}

/**
 * Where the identity provider sends the browser back to. The answer is a page that then opens the console, not a redirect: a browser
 * does not send the strict session cookie along a chain of redirects that began at another site.
 */
function registerCallback(app: FastifyInstance, { runtime, oidc }: Api): void {
  app.get('/sign-in/callback', async (request, reply) => {
    const secure = isServedOverHttps(runtime);
    const query = new URL(request.url, 'http://callback').searchParams;
    const flow = cookieIn(request.headers.cookie, secure, 'sign_in');
    const finished = await oidc.finish(query, flow, { address: request.ip, requestId: request.id });
    const cookies = [newCookie(secure, 'sign_in', '', 0)];
    if (finished.kind === 'wait') reply.header('retry-after', finished.seconds);
    if (finished.kind === 'session') {
      const previous = shownToken(request.headers, secure);
      if (previous?.by === 'cookie') await revokeSession(runtime.pool, previous.token);
      const maxAgeS = secondsUntil(finished.expiresAt, runtime.clock.now());
      cookies.push(newCookie(secure, 'session', finished.session, maxAgeS));
    }
    reply
      .code(finished.kind === 'session' ? 200 : finished.kind === 'wait' ? 429 : 403)
      .header('set-cookie', cookies)
      .header('cache-control', 'no-store');
    return sendPlainPage(reply, finished.kind === 'session' ? onward : refusal(finished.why));
  });
}

const page = (head: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Innbound</title>${head}<body style="font:16px system-ui;margin:4rem auto;max-width:32rem">${body}</body></html>`;

const onward = page(
  '<meta http-equiv="refresh" content="0;url=/">',
  '<p>You are signed in. <a href="/">Open the console</a></p>',
);

function refusal(why: string): string {
  return page(
    '',
    `<h1>Not signed in</h1><p>The sign-in was refused: ${escapeHtml(why)}.</p><p><a href="/sign-in">Try again</a></p>`,
  );
}

const longestBytes = 16 * 1024;

/** Where the identity provider reports that a person signed out there: a form with a signed logout token. */
function registerLogout(app: FastifyInstance, { oidc }: Api): void {
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
