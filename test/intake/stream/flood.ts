/** A worker thread: a WebSocket server that floods each client as the path of its address says. Posts its port. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { deflateRawSync } from 'node:zlib';
import { WebSocketServer } from 'ws';

const frame = (first: number, payload: string | Buffer): Buffer => {
  const body = Buffer.from(payload);
  if (body.length < 126) return Buffer.concat([Buffer.from([first, body.length]), body]);
  const header = Buffer.from([first, 126, 0, 0]);
  header.writeUInt16BE(body.length, 2);
  return Buffer.concat([header, body]);
};
const text = (message: string) => frame(0x81, message);
const ping = '{"type":"ping"}';
const unreadable = '{"id":"1","type":"next","payload":{"data":{"newEvent":7}}}';
/** A message of one megabyte that takes a kilobyte on the wire. */
const bomb = frame(
  0xc1,
  deflateRawSync(Buffer.from(`{"a":"${'x'.repeat(1_000_000)}"}`), { finishFlush: 2 }).subarray(0, -4),
);

const floods: Readonly<Record<string, Buffer>> = {
  pings: text(ping),
  unread: text(ping),
  control: frame(0x89, ''),
  pongs: text('{"type":"pong"}'),
  acks: text('{"type":"connection_ack"}'),
  empty: text(''),
  garbage: text('{'),
  binary: frame(0x82, ''),
  unreadable: text(unreadable),
  bombs: bomb,
};

const mostBytes = 256 * 1024 * 1024;
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: { threshold: 1e9 } });
server.on('connection', (socket, request) => {
  const kind = request.url?.slice(1) ?? '';
  const one = floods[kind] ?? Buffer.alloc(0);
  const many = Buffer.concat(Array(Math.ceil(65_536 / one.length)).fill(one));
  const tcp = (request.socket as Socket).setNoDelay(true);
  socket.on('error', () => {});
  const flood = async () => {
    if (kind === 'unread') tcp.pause();
    for (let bytes = 0; !tcp.destroyed && bytes < mostBytes; bytes += many.length) {
      if (!tcp.write(many)) await new Promise<unknown>((go) => tcp.once('drain', go).once('close', go));
      parentPort?.postMessage({ kind, bytes: many.length });
    }
  };
  socket.on('message', (data) => {
    const { type } = JSON.parse(String(data)) as { type: string };
    if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
    if (type === 'subscribe') void flood();
  });
});
await once(server, 'listening');
parentPort?.postMessage({ port: (server.address() as AddressInfo).port, kinds: Object.keys(floods) });
