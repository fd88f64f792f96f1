import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { urlFault } from '../../kit/plain-url.ts';
import { version } from '../../kit/version.ts';
import type { Json } from '../../terms.ts';
import { type Api, type CallResult, tools } from './tools.ts';

/** Tools for assistants (Model Context Protocol) on top of the API of a running service. Holds no state and no rights of its own. */

interface McpOptions {
  /** The address of the service. */
  readonly service: string;
  /** Whether tools that change something are offered. */
  readonly write: boolean;
}

export function mcpServer(options: McpOptions, token: string): McpServer {
  const server = new McpServer(
    { name: 'innbound', version },
    { instructions: 'Reservations of hotels: what arrived, what it became, where it was delivered, and why not.' },
  );
  const api = apiOf(options.service, token);
  for (const { name, description, input, writes, call } of tools) {
    if (writes && !options.write) continue;
    const config = { description, inputSchema: input, annotations: { readOnlyHint: writes !== true } };
    server.registerTool(name, config, async (given) => {
      const answer = await call(api, given as never);
      const text = JSON.stringify(answer.ok ? answer.body : answer.problem);
      return { content: [{ type: 'text', text }], ...(answer.ok ? {} : { isError: true }) };
    });
  }
  return server;
}

function apiOf(service: string, token: string): Api {
  async function send(path: string, init: RequestInit): Promise<CallResult> {
    const url = `${service.replace(/\/+$/, '')}/api/v1${path}`;
    if (urlFault(url) !== undefined) return { ok: false, problem: { detail: 'An id of "." or ".." names nothing.' } };
    try {
      const answer = await fetch(url, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(30_000),
      });
      const body = (await answer.json()) as Json;
      return answer.ok ? { ok: true, body } : { ok: false, problem: body };
    } catch {
      return { ok: false, problem: { detail: `The service at ${service} does not answer.` } };
    }
  }
  return {
    get: (path, query = {}) => {
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      );
      return send(`${path}?${new URLSearchParams(given)}`, { method: 'GET' });
    },
    post: (path, body) => send(path, { method: 'POST', body: JSON.stringify(body) }),
  };
}

const mostBytes = 8 * 1024 * 1024;

/**
 * Serves the tools by HTTP on this machine, without sessions. Every request needs a token of the service, as Authorization: Bearer; pages in
 * a browser are refused by their origin.
 */
export async function serveHttp(options: McpOptions, port: number): Promise<{ url: string; close(): Promise<void> }> {
  const handler = createMcpHandler(({ authInfo }) => mcpServer(options, authInfo?.token ?? ''));
  const server = createServer(async (request, response) => {
    const answer = await respond(request).catch(() => new Response(null, { status: 400 }));
    const close = request.complete ? {} : { connection: 'close' };
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), ...close });
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  });

  /** The body is read last: nobody without a valid token makes us keep one. */
  async function respond(incoming: IncomingMessage): Promise<Response> {
    const asked = requestOf(incoming);
    const refused =
      hostHeaderValidationResponse(asked, localhostAllowedHostnames()) ??
      originValidationResponse(asked, localhostAllowedOrigins());
    if (refused) return refused;
    const token = /^Bearer +(\S{8,200})$/i.exec(asked.headers.get('authorization') ?? '')?.[1];
    const session = token === undefined ? undefined : await apiOf(options.service, token).get('/session');
    if (token === undefined || session?.ok !== true) {
      // Only a token that the service has just accepted gets an answer: neither one that has to wait, nor any while it is away.
      const problem = session?.ok === false ? (session.problem as { status?: number }) : { status: 401 };
      return new Response(null, { status: problem.status ?? 503, headers: { 'www-authenticate': 'Bearer' } });
    }
    const body = await bodyOf(incoming);
    if (body === undefined) return new Response(null, { status: 413 });
    return handler.fetch(requestOf(incoming, body), { authInfo: { token, clientId: 'innbound', scopes: [] } });
  }

  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function requestOf({ method = 'GET', headers, url = '/' }: IncomingMessage, body?: Buffer): Request {
  const given = Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
    method,
    headers: Object.fromEntries(given),
    ...(method === 'GET' || method === 'HEAD' || body === undefined ? {} : { body }),
  });
}
