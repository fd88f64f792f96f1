import type { Socket as TcpSocket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Timers } from '../kit/clock.ts';
import { agentFor, checkBeforeProxy, client, type HttpSettings } from './http/connect.ts';

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
  return (url, protocol, events) => {
    const { WebSocket } = client();
    let gate: FrameGate | undefined;
    let socket: InstanceType<typeof WebSocket> | undefined;
    let isClosed = false;
    let refusal = '';
    let status = 101;
    const agent = agentFor(settings, connectTimeoutMs, { webSocket: { maxPayloadSize } }, (error) => {
      refusal = error?.message ?? '';
    });
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
    void Promise.resolve(checkBeforeProxy(settings, URL.parse(url)?.hostname ?? '')).then((verdict = 'allowed') =>
      verdict === 'allowed' ? open() : closed(1006, 'the address is not public, or has no address here'),
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

const turnMs = 100;
const framesPerTurn = 200;
/** Each byte counts twice, as it arrives and as text: compressed messages are long only as text. */
const bytesPerTurn = 1024 * 1024;

/**
 * A connection as the WebSocket library sees it: in each turn only so many frames and bytes arrive, 2,000 frames and 5 MiB a second. The
 * rest waits in the system's buffers, so that TCP slows the peer down. Frames are counted here because the library answers pings by itself
 * and cannot be paused.
 */
class FrameGate extends Duplex {
  readonly #tcp: TcpSocket;
  readonly #timers: Pick<Timers, 'schedule'>;
  readonly #onFrame: () => void;
  #chunk: Buffer = Buffer.alloc(0);
  /** Of the frame that is passing. */
  #bytesLeft = 0;
  #frames = 0;
  #bytes = 0;
  #isTurning = false;
  #isWanted = false;
  #isHeld = false;

  constructor(tcp: TcpSocket, timers: Pick<Timers, 'schedule'>, onFrame: () => void) {
    super({ allowHalfOpen: false });
    this.#tcp = tcp;
    this.#timers = timers;
    this.#onFrame = onFrame;
    tcp.on('data', (chunk: Buffer) => {
      tcp.pause();
      this.#chunk = this.#chunk.length === 0 ? chunk : Buffer.concat([this.#chunk, chunk]);
      this.#pass();
    });
    tcp.once('end', () => this.push(null));
    tcp.once('error', (error) => this.destroy(error));
    tcp.once('close', () => tcp.readableEnded || this.destroy());
  }

  /** Nothing passes while it is held. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#pass();
  }

  /** Bytes of a message's text. */
  charge(bytes: number): void {
    this.#bytes += bytes;
    this.#turn();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#pass();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#tcp.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#tcp.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tcp.destroy();
    done(error);
  }

  #pass(): void {
    while (this.#isWanted && !this.#isHeld && !this.destroyed) {
      if (this.#frames >= framesPerTurn || this.#bytes >= bytesPerTurn) return;
      const size = this.#next();
      if (size === 0) {
        this.#tcp.resume();
        return;
      }
      const passing = this.#chunk.subarray(0, size);
      this.#chunk = this.#chunk.subarray(size);
      this.#bytesLeft -= size;
      this.charge(size);
      this.#isWanted = this.push(passing);
    }
  }

  /** How many bytes may pass: the rest of a frame, as far as it is there. A header passes in one piece. */
  #next(): number {
    const chunk = this.#chunk;
    if (this.#bytesLeft === 0) {
      const short = (chunk[1] ?? 0) & 0x7f;
      const header = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (chunk.length < header) return 0;
      const payload = short === 127 ? Number(chunk.readBigUInt64BE(2)) : short === 126 ? chunk.readUInt16BE(2) : short;
      this.#bytesLeft = header + payload;
      this.#frames += 1;
      this.#onFrame();
    }
    return Math.min(this.#bytesLeft, chunk.length);
  }

  #turn(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    const next = () => {
      this.#isTurning = false;
      this.#frames = Math.max(0, this.#frames - framesPerTurn);
      this.#bytes = Math.max(0, this.#bytes - bytesPerTurn);
      if (this.#bytes > 0) this.#turn();
      this.#pass();
    };
    this.#timers.schedule(turnMs, next, { background: true });
  }
}
