import type { Socket as TcpSocket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Timers } from '../kit/clock.ts';

const turnMs = 100;
const framesPerTurn = 200;
/** Each byte counts twice, as it arrives and as text: compressed messages are long only as text. */
const bytesPerTurn = 1024 * 1024;

/**
 * A connection as the WebSocket library sees it: in each turn only so many frames and bytes arrive, 2,000 frames and 5 MiB a second. The
 * rest waits in the system's buffers, so that TCP slows the peer down. Frames are counted here because the library answers pings by itself
 * and cannot be paused.
 */
export class FrameGate extends Duplex {
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
