import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml } from '../../kit/html.ts';
import type { ConsolePorts } from '../operations/build-console.ts';
import { sendProblem } from './problem.ts';
import { strictPolicy } from './server.ts';

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  /** As compressed by the build. */
  readonly brotli: Buffer | undefined;
  /** The file name contains a hash of the content, so it can be cached for ever. */
  readonly hashed: boolean;
}

const types: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);
/** Paths that are never pages of the console: unknown ones answer with a problem document. */
const notPages = /^\/(api|webhooks|assets|metrics|healthz|readyz|sandbox)(\/|$)/;

/** The answer to a client without HTML, such as curl. */
const hello = `This is Innbound.
  console    open this address in a browser
  ready?     GET /readyz
  API        GET /api/reference
`;

/** The console at `/`: files served from memory, one page for all its routes, and no third-party content. */
export function registerConsole(app: FastifyInstance, ports: ConsolePorts): void {
  const assets = assetsOf(ports.dist);
  app.get('/*', async (request, reply) => {
    const [pathname = '/'] = request.url.split('?', 1);
    const asset = assets().get(pathname);
    if (asset && !pathname.endsWith('.html')) return sendAsset(request, reply, asset);
    const inBrowser = request.headers.accept?.includes('text/html') === true;
    if (pathname === '/' && !inBrowser) return reply.type('text/plain; charset=utf-8').send(hello);
    if (notPages.test(pathname) || !inBrowser) return sendProblem(request, reply, 404, 'operate.no_route');
    // The partner's page is a bundle of its own: it has nothing of the console's.
    const partners = pathname.startsWith('/connect/') ? assets().get('/partner.html') : undefined;
    return sendPage(reply, partners ?? assets().get('/index.html'), ports, partners !== undefined);
  });
}

/** Reloaded when a newer build is in place. */
function assetsOf(dist: string): () => ReadonlyMap<string, Asset> {
  let known = new Map<string, Asset>();
  let knownMs = 0;
  return () => {
    const builtMs = statSync(path.join(dist, 'stamp'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (builtMs === knownMs || builtMs === 0) return known;
    known = new Map(
      readdirSync(dist, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && types.get(path.extname(entry.name)) !== undefined)
        .map(({ parentPath, name }) => {
          const file = path.join(parentPath, name);
          const url = `/${path.relative(dist, file).split(path.sep).join('/')}`;
          return [url, readAsset(file, url.startsWith('/assets/'))];
        }),
    );
    knownMs = builtMs;
    return known;
  };
}

function readAsset(file: string, hashed: boolean): Asset {
  const bytes = readFileSync(file);
  const brotli = existsSync(`${file}.br`) ? readFileSync(`${file}.br`) : undefined;
  return { type: types.get(path.extname(file)) ?? '', bytes, brotli, hashed };
}

function sendAsset(request: FastifyRequest, reply: FastifyReply, asset: Asset): FastifyReply {
  reply.type(asset.type).header('cache-control', asset.hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (asset.brotli === undefined) return reply.send(asset.bytes);
  reply.header('vary', 'accept-encoding');
  if (!/\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(asset.bytes);
  return reply.header('content-encoding', 'br').send(asset.brotli);
}

function sendPage(reply: FastifyReply, page: Asset | undefined, ports: ConsolePorts, isPlain: boolean): FastifyReply {
  const nonce = randomBytes(16).toString('base64');
  const policy = strictPolicy(
    "script-src 'self'",
    // The console's component library adds a few style elements; styles without the nonce are blocked.
    isPlain ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
  );
  reply
    .header('content-security-policy', policy)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('permissions-policy', 'camera=(), geolocation=(), microphone=()')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8');
  if (page) return reply.send(page.bytes.toString('utf8').replace('__NONCE__', nonce));
  const progress = ports.progress();
  if (progress.kind === 'building') reply.header('refresh', '2');
  return reply.code(503).header('retry-after', '2').send(waitingPage(nonce, progress));
}

function waitingPage(nonce: string, progress: ReturnType<ConsolePorts['progress']>): string {
  const [title, text] =
    progress.kind === 'building'
      ? ['Building the console', 'The console is built once, which takes a few seconds. This page reloads by itself.']
      : ['The console could not be built', progress.message];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Innbound</title>
<style nonce="${nonce}">body{margin:0;min-height:100vh;display:grid;place-content:center;background:#121722;color:#ece6d8;font:16px/1.5 system-ui,sans-serif}main{max-width:34rem;padding:2rem}h1{font:500 1.6rem Georgia,serif;color:#d9b15c}</style>
<main><h1>${title}</h1><p>${escapeHtml(text)}</p><p>Pulls, webhooks and deliveries are already running.</p></main></html>`;
}
