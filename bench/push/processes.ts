import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

const started = new Set<ChildProcess>();

export function start(file: string, env: Record<string, string> = {}): ChildProcess {
  const child = fork(new URL(file, import.meta.url), { env: { ...process.env, ...env }, serialization: 'advanced' });
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

export async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  child.send(question);
  const [answer] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`a process of the benchmark ended with ${code}`);
    }),
  ])) as [Answer];
  return answer;
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await once(child, 'exit');
  clearTimeout(timer);
}

export async function endAll(): Promise<void> {
  await Promise.all([...started].map(end));
}
