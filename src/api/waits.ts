import type { FastifyReply, FastifyRequest } from 'fastify';

/** One holder of a token must not take all waiting slots of the node. */
const mostPerHolder = 20;

interface Wait {
  readonly signal: AbortSignal;
  end(): void;
}

/** Requests whose answer is held back. */
export interface Waits {
  begin(request: FastifyRequest, reply: FastifyReply, holder: string): Wait | 'too many';
  /** Answers all of them: closing the server waits for open responses. */
  end(): void;
  readonly isEnding: boolean;
}

export function openWaits(): Waits {
  const closing = new AbortController();
  const open = new Map<string, number>();
  return {
    begin({ raw: { socket } }, { raw }, holder) {
      const held = open.get(holder) ?? 0;
      if (held >= mostPerHolder) return 'too many';
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
    end: () => closing.abort(),
    get isEnding() {
      return closing.signal.aborted;
    },
  };
}
