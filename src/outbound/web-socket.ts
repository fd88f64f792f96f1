import type { Socket as TcpSocket } from 'node:net';
import type { Timers } from '../kit/clock.ts';
import { FrameGate } from './frame-gate.ts';
import { client } from './http/client.ts';
import { checkBeforeProxy, guardedConnector, tlsOptions } from './http/connect.ts';
import type { HttpSettings } from './http.ts';

/** A WebSocket to an address that other people configured: public addresses only unless allowed, no redirects, bounded messages. */
export type OpenSocket = (url: string, protocol: string, events: SocketEvents) => Socket;

export interface Socket {
  /** False if the peer has not read the earlier ones, and too much waits for it. */
  send(text: string): boolean;
  /** Stops or resumes reading, so that TCP slows the peer down. */
  hold(isHeld: boolean): void;
  /** Closes from our side; a peer that does not answer is cut off. */
  close(): void;
}

export interface SocketEvents {
  readonly opened: () => void;
  /** A frame of any kind: a message, a part of one, or a ping that is answered here. */
  readonly frame: () => void;
  readonly text: (text: string) => void;
  /** Called once, also for a connection that was never made: 1006 then, as for one that broke, or the HTTP status of the answer. */
  readonly closed: (code: number, reason: string) => void;
}

const connectTimeoutMs = 10_000;
const closeWithinMs = 3_000;
const maxPayloadSize = 1024 * 1024;
const mostUnreadBytes = 64 * 1024;

export function socketsOf(settings: HttpSettings, timers: Pick<Timers, 'schedule'>): OpenSocket {
  const tls = { connectTimeoutMs, ...(settings.ca === undefined ? {} : { ca: settings.ca }) };
  return (url, protocol, events) => {
    const { Agent, ProxyAgent, WebSocket } = client();
    let gate: FrameGate | undefined;
    let socket: InstanceType<typeof WebSocket> | undefined;
    let isClosed = false;
    let refusal = '';
    let status = 101;
    const limits = { webSocket: { maxPayloadSize } };
    const guarded = guardedConnector(tls, settings.allowPrivate);
    const agent =
      settings.proxy === undefined
        ? new Agent({
            ...limits,
            connect: (options, callback) =>
              guarded(options, (...made) => {
                refusal = made[0]?.message ?? '';
                callback(...made);
              }),
          })
        : new ProxyAgent({ ...limits, uri: settings.proxy, requestTls: tlsOptions(tls), proxyTls: tlsOptions(tls) });
    // The library does not report the status of an answer that is not an upgrade, and reads as fast as the peer sends.
    const watched = agent.compose((dispatch) => (options, handler) => {
      const { onResponseStart, onRequestUpgrade } = handler;
      handler.onRequestUpgrade = (controller, code, head, tcp) => {
        gate = new FrameGate(tcp as TcpSocket, timers, events.frame);
        onRequestUpgrade?.call(handler, controller, code, head, gate);
      };
      handler.onResponseStart = (...answer) => {
        [, status] = answer;
        onResponseStart?.apply(handler, answer);
      };
      return dispatch(options, handler);
    });
    const closed = (code: number, reason: string) => {
      if (isClosed) return;
      isClosed = true;
      // An upgraded connection no longer belongs to its agent.
      gate?.destroy();
      void agent.destroy();
      events.closed(code, reason);
    };
    const open = () => {
      if (isClosed) return;
      const headers = { 'user-agent': settings.userAgent };
      socket = new WebSocket(url, { protocols: protocol, dispatcher: watched, headers });
      socket.onopen = events.opened;
      socket.onmessage = ({ data }) => {
        if (isClosed || typeof data !== 'string') return;
        gate?.charge(data.length);
        events.text(data);
      };
      socket.onclose = ({ code, reason }) => closed(status === 101 ? code : status, reason || refusal);
    };
    void mayConnect(settings, url).then((isAllowed) =>
      isAllowed ? open() : closed(1006, 'the address is not public, or has no address here'),
    );
    return {
      send(text) {
        socket?.send(text);
        return (socket?.bufferedAmount ?? 0) < mostUnreadBytes;
      },
      hold: (isHeld) => gate?.hold(isHeld),
      close() {
        socket?.close(1000);
        timers.schedule(socket === undefined ? 0 : closeWithinMs, () => closed(1006, 'closed'), { background: true });
      },
    };
  };
}

/** A proxy resolves the name again by itself, so it is checked here first. */
async function mayConnect({ proxy, allowPrivate, proxyResolves }: HttpSettings, url: string): Promise<boolean> {
  if (proxy === undefined || allowPrivate) return true;
  const verdict = await checkBeforeProxy(new URL(url).hostname);
  return verdict === 'allowed' || (verdict === 'unresolved' && proxyResolves === true);
}
