/** The brokers that all tests of a process share, started by the first that needs one. */
import { after } from 'node:test';
import { startFauxqs } from 'fauxqs';
import { startKafka, startNats, startRabbit } from './servers.ts';

function shared<Server extends { stop(): Promise<unknown> }>(start: () => Promise<Server>): () => Promise<Server> {
  let started: Promise<Server> | undefined;
  after(async () => (await started)?.stop());
  return () => {
    started ??= start();
    return started;
  };
}

export const sharedAws = shared(() => startFauxqs({ port: 0, host: '127.0.0.1', logger: false }));
export const sharedKafka = shared(() => startKafka(Array.from({ length: 100 }, (_, i) => `changes-${i + 1}`)));
export const sharedNats = shared(() => startNats());
export const sharedRabbit = shared(startRabbit);
