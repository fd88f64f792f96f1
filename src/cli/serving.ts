import type { Service } from '../service.ts';
import { say } from './command.ts';

/** Exits within the 25 seconds that an operator waits, even if something hangs; another node or start continues the work. */
export async function stopInTime(service: Pick<Service, 'stop'>, graceMs = 0): Promise<void> {
  const timer = setTimeout(() => {
    say('innbound could not finish everything in time; the next start continues the rest.');
    process.exit(1);
  }, 23_000);
  await service.stop({ graceMs });
  clearTimeout(timer);
}
