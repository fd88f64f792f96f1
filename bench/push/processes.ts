import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

const started = new Set<ChildProcess>();

export function start(file: string, env: Record<string, string> = {}): ChildProcess {
  const child = fork(new URL(file, import.meta.url), { env: { ...process.env, ...env }, serialization: 'advanced' });
  started.add(child);
  child.once('exit', () => started.delete(child));
  return child;
}

export function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a benchmark process exited with ${code}`));
    child.once('exit', ended);
    child.once('message', (answer) => {
      child.off('exit', ended);
      resolve(answer as Answer);
    });
    child.send(question);
  });
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
