import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.ts';
import type { Result } from './route.ts';

const heartbeatMs = 15_000;
/** A reader this far behind is disconnected; a browser reconnects by itself. */
const mostBuffered = 1024 * 1024;

/** Server-sent events on a hijacked response; ends when the client disconnects or falls behind, or the server closes. */
export function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: Extract<Result, { kind: 'stream' }>,
  stillMay: () => Promise<boolean>,
  streams: Set<ServerResponse>,
): FastifyReply {
  const { raw } = reply;
  let id = 0;
  const send = (event: string, data: unknown): void => {
    if (raw.writableLength > mostBuffered) {
      raw.destroy();
      return;
    }
    id += 1;
    raw.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  if (!stream.open(send)) {
    reply.header('retry-after', '10');
    return sendProblem(request, reply, 503, 'operate.conflict', {
      detail: 'This node has too many live listeners; retry later.',
    });
  }
  reply.hijack();
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  raw.write(': here\n\n');
  const beat = setInterval(() => {
    raw.write(': still here\n\n');
    // A revoked token or an ended session must stop receiving.
    stillMay().then(
      (may) => may || raw.end(),
      () => {},
    );
  }, heartbeatMs);
  const end = (): void => {
    clearInterval(beat);
    streams.delete(raw);
    stream.close();
  };
  streams.add(raw);
  raw.once('close', end);
  return reply;
}
