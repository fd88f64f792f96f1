import http from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import { rootCertificates } from 'node:tls';
import type { WebSocket } from 'ws';
import type { Timers } from '../../kit/clock.ts';
import { BlockedAddress, checkBeforeProxy, type HttpSettings, isBlockedLiteral, publicLookup } from './http/connect.ts';

/** A WebSocket to an address that other people configured: public addresses only unless allowed, no redirects, bounded messages. */
export type OpenSocket = (url: string, protocol: string, events: SocketEvents) => Socket;

interface Socket {
  /** False if the peer has not read the earlier ones, and too much waits for it. */
  send(text: string): boolean;
  /** Stops or resumes reading, so that TCP slows the peer down. */
  hold(isHeld: boolean): void;
  /** Closes from our side; a peer that does not answer is cut off. */
  close(): void;
}

interface SocketEvents {
  readonly opened: () => void;
  /** A message, or a ping that is answered here. */
  readonly frame: () => void;
  readonly text: (text: string) => void;
  /** Called once, also for a connection that was never made: 1006 then, as for one that broke, or the HTTP status of the answer. */
  readonly closed: (code: number, reason: string) => void;
}

const mostUnreadBytes = 64 * 1024;
const limits = {
  handshakeTimeout: 10_000,
  closeTimeout: 3_000,
  maxPayload: 1024 * 1024,
  maxFragments: 500,
  // A message of a megabyte would take a kilobyte on the wire.
  perMessageDeflate: false,
};

const turnMs = 100;
/** 2,000 messages and 5 MiB a second. The rest waits in the system's buffers, so that TCP slows the peer down. */
const perTurn = { frames: 200, bytes: 512 * 1024 };

const require = createRequire(import.meta.url);

export function socketsOf(settings: HttpSettings, timers: Pick<Timers, 'schedule'>): OpenSocket {
  return (url, protocol, events) => {
    const host = URL.parse(url)?.hostname ?? '';
    let socket: WebSocket | undefined;
    let isClosed = false;
    let refusal = '';
    const closed = (code: number, reason: string) => {
      if (isClosed) return;
      isClosed = true;
      socket?.terminate();
      events.closed(code, reason);
    };
    const flow = flowOf(timers, (isOpen) => (isOpen ? socket?.resume() : socket?.pause()));
    const came = (bytes: number) => {
      flow.add(bytes);
      events.frame();
    };
    const open = () => {
      if (isClosed) return;
      // Loaded for the first stream: most services read none.
      const ws = require('ws') as typeof import('ws');
      const agent = agentFor(settings, url.startsWith('wss:'));
      const opening = new ws.WebSocket(url, protocol, {
        ...limits,
        agent,
        headers: { 'user-agent': settings.userAgent },
      });
      socket = opening;
      opening.on('open', events.opened);
      opening.on('message', (data: Buffer, isBinary) => {
        came(data.length);
        if (!isClosed && !isBinary) events.text(data.toString());
      });
      opening.on('ping', (data) => came(data.length));
      opening.on('pong', (data) => came(data.length));
      opening.on('unexpected-response', (_, { statusCode = 1006 }) => closed(statusCode, ''));
      opening.on('error', (error) => {
        refusal = error.message;
      });
      opening.on('close', (code, reason) => closed(code, reason.toString() || refusal));
    };
    const isBlocked = settings.proxy === undefined && !settings.allowPrivate && isBlockedLiteral(host);
    void Promise.resolve(checkBeforeProxy(settings, host)).then((verdict = 'allowed') => {
      if (isBlocked) closed(1006, new BlockedAddress(host).message);
      else if (verdict === 'allowed') open();
      else closed(1006, 'the address is not public, or has no address here');
    });
    return {
      send(text) {
        socket?.send(text);
        return (socket?.bufferedAmount ?? 0) < mostUnreadBytes;
      },
      hold: flow.hold,
      close: () => (socket === undefined ? closed(1006, 'closed') : socket.close(1000)),
    };
  };
}

function agentFor({ allowPrivate, ca, proxy }: HttpSettings, isSecure: boolean): http.Agent {
  const authorities = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  const way = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
  const lookup = proxy === undefined && !allowPrivate ? { lookup: publicLookup } : {};
  return new (isSecure ? https : http).Agent({ ...authorities, ...way, ...lookup } as https.AgentOptions);
}

/** Lets so much pass in each turn. What came beyond that, with one read of the connection, is paid by the next turns. */
function flowOf(timers: Pick<Timers, 'schedule'>, gate: (isOpen: boolean) => void) {
  const owed = { frames: 0, bytes: 0 };
  let isHeld = false;
  let isTurning = false;
  const set = () => gate(!isHeld && owed.frames < perTurn.frames && owed.bytes < perTurn.bytes);
  const turn = () => {
    if (isTurning) return;
    isTurning = true;
    const next = () => {
      isTurning = false;
      owed.frames = Math.max(0, owed.frames - perTurn.frames);
      owed.bytes = Math.max(0, owed.bytes - perTurn.bytes);
      if (owed.frames + owed.bytes > 0) turn();
      set();
    };
    timers.schedule(turnMs, next, { background: true });
  };
  return {
    add(bytes: number): void {
      owed.frames += 1;
      owed.bytes += bytes;
      turn();
      set();
    },
    hold(isNow: boolean): void {
      isHeld = isNow;
      set();
    },
  };
}
