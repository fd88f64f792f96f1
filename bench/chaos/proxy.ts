import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy between the nodes and one database server. */
export class TcpProxy {
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((from) => this.#join(from));
  }

  static async open(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Closes every connection, even in the middle of a message. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Holds all traffic for a time, in both directions. */
  async hold(ms: number): Promise<void> {
    for (const socket of this.#sockets) socket.pause();
    await new Promise((resolve) => setTimeout(resolve, ms));
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #join(from: Socket): void {
    const to = connect(this.#target, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(one);
      one.on('data', (chunk) => other.write(chunk));
      one.on('error', () => {});
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
