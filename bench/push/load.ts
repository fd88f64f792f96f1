/** The sender, in a separate process: prepared bytes over raw sockets, to keep its own cost minimal. */
import { connect, type Socket } from 'node:net';
import { eventBody, request, type Target } from './requests.ts';

export interface Job {
  readonly target: Target;
  /** Further targets: the requests go to all of them in turn. A reservation always goes to the same one. */
  readonly others?: readonly Target[];
  readonly run: string;
  readonly connections: number;
  readonly count: number;
  readonly reservations: number;
  /** Requests per second, independent of answers; without it, each connection sends after its last answer. */
  readonly rate?: number;
}

export interface Outcome {
  readonly seconds: number;
  readonly answers: Record<string, number>;
  /** Milliseconds from the scheduled send time to the answer, sorted. */
  readonly latencies: number[];
  /** Send time of each request, on the machine's monotonic clock. */
  readonly sentAt: number[];
}

process.on('message', (job: Job) => {
  void run(job).then(
    (outcome) => process.send?.(outcome),
    (error: Error) => {
      console.error(error.message);
      process.exit(1);
    },
  );
});

async function run(job: Job): Promise<Outcome> {
  const targets = [job.target, ...(job.others ?? [])];
  const bodies = Array.from({ length: job.count }, (_, n) => {
    const target = targets[(n % job.reservations) % targets.length] ?? job.target;
    return request(target, eventBody(target.brandId, job.run, n, job.reservations));
  });
  const sockets = await Promise.all(Array.from({ length: job.connections }, () => opened(job.target.port)));
  const answers: Record<string, number> = {};
  const latencies: number[] = [];
  const sentAt: number[] = [];
  const idle = [...sockets];
  const dueAt: number[] = [];
  const clock = () => Number(process.hrtime.bigint()) / 1e6;
  const began = clock();
  let next = 0;
  await new Promise<void>((done, fail) => {
    for (const socket of sockets) socket.once('close', () => fail(new Error('a connection was closed')));
    const send = (socket: Socket) => {
      const n = next++;
      sentAt[n] = clock();
      const due = dueAt[n] ?? sentAt[n] ?? 0;
      socket.once('data', (chunk: Buffer) => {
        const status = chunk.toString('latin1', 9, 12);
        answers[status] = (answers[status] ?? 0) + 1;
        latencies.push(clock() - due);
        if (latencies.length === job.count) done();
        else if (job.rate === undefined && next < job.count) send(socket);
        else idle.push(socket);
      });
      socket.write(bodies[n] as Buffer);
    };
    if (job.rate === undefined) {
      for (const socket of idle.splice(0)) send(socket);
      return;
    }
    const perMs = job.rate / 1000;
    for (let n = 0; n < job.count; n++) dueAt[n] = began + n / perMs;
    const timer = setInterval(() => {
      const due = Math.min(job.count, Math.floor((clock() - began) * perMs) + 1);
      while (next < due) {
        // Round-robin, so that no connection stays idle until the server closes it.
        const socket = idle.shift();
        if (!socket) break;
        send(socket);
      }
      if (next >= job.count) clearInterval(timer);
    }, 1);
  });
  const seconds = (clock() - began) / 1000;
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  return { seconds, answers, latencies: latencies.sort((a, b) => a - b), sentAt };
}

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
    socket.once('error', reject);
  });
}

// The parent process is gone.
process.once('disconnect', () => process.exit(0));
