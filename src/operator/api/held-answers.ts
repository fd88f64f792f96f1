import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem } from './problem.ts';
import type { Result } from './route.ts';

const heartbeatMs = 15_000;
/** A reader this far behind is disconnected; a browser reconnects by itself. */
const mostBuffered = 1024 * 1024;

/** So that one holder of a token cannot take all streams of the node. A browser opens one per tab. */
const mostStreamsPerHolder = 10;

export type Streams = ReturnType<typeof openStreams>;

type Stream = Extract<Result, { kind: 'stream' }>;

interface Listener {
  readonly stillMay: () => Promise<boolean>;
  /** The token that it counts for. */
  readonly holder: string;
}

export function openStreams() {
  const open = new Map<ServerResponse, string>();
  return {
    /** Server-sent events on a hijacked response; ends when the client disconnects or falls behind, or the server closes. */
    send(request: FastifyRequest, reply: FastifyReply, stream: Stream, { stillMay, holder }: Listener): FastifyReply {
      const { raw } = reply;
      const held = [...open.values()].filter((one) => one === holder).length;
      const send = writer(raw);
      if (held >= mostStreamsPerHolder || !stream.open(send)) {
        reply.header('retry-after', '10');
        const whose = held >= mostStreamsPerHolder ? 'This token' : 'This node';
        const detail = `${whose} has too many live listeners; retry later.`;
        return sendProblem(request, reply, 503, 'operate.busy', { detail });
      }
      reply.hijack();
      raw.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(': here\n\n');
      const beat = setInterval(() => {
        if (!raw.writableEnded) raw.write(': still here\n\n');
        // A revoked token or an ended session must stop receiving.
        stillMay().then(
          (may) => may || leave(raw),
          () => {},
        );
      }, heartbeatMs);
      open.set(raw, holder);
      // Notices a disconnected client at once, not at the next heartbeat: until then it would count against its token.
      request.raw.socket.once('end', () => raw.destroy());
      raw.once('close', () => {
        clearInterval(beat);
        open.delete(raw);
        stream.close();
      });
      return reply;
    },
    end(): void {
      for (const raw of open.keys()) leave(raw);
    },
  };
}

/** Ends a stream; one whose reader does not read would never come to its end, so it is cut. */
function leave(raw: ServerResponse): void {
  if (raw.writableNeedDrain) raw.destroy();
  else raw.end();
}

function writer(raw: ServerResponse): (event: string, data: unknown) => void {
  let id = 0;
  return (event, data) => {
    if (raw.writableEnded) return;
    if (raw.writableLength > mostBuffered) {
      raw.destroy();
      return;
    }
    id += 1;
    raw.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
}

/** One holder of a token must not take all waiting slots of the node. */
const mostWaitsPerHolder = 20;

export type Waits = ReturnType<typeof openWaits>;

/** Requests whose answer is held back. */
export function openWaits() {
  const closing = new AbortController();
  const open = new Map<string, number>();
  return {
    begin({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, holder: string) {
      const held = open.get(holder) ?? 0;
      if (held >= mostWaitsPerHolder) return 'too many' as const;
      open.set(holder, held + 1);
      const own = new AbortController();
      const leave = () => own.abort();
      // A disconnected client must not keep its slot until its time is over.
      socket.once('end', leave);
      raw.once('close', leave);
      return {
        signal: AbortSignal.any([own.signal, closing.signal]),
        end: () => {
          socket.off('end', leave);
          raw.off('close', leave);
          const left = (open.get(holder) ?? 1) - 1;
          if (left > 0) open.set(holder, left);
          else open.delete(holder);
        },
      };
    },
    /** Answers all of them: closing the server waits for open responses. */
    end: () => closing.abort(),
    get isEnding() {
      return closing.signal.aborted;
    },
  };
}
