import { InnboundError } from '../../errors.ts';
import { healthOf, type StreamNow } from '../operations/health.ts';
import type { Command, CommonOptions } from './command.ts';
import { io, printJson, show, table } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .notes('\nThe exit code is 1 if a brand needs attention or fails.')
    .inRuntime(async (runtime, integration: string | undefined, options: CommonOptions) => {
      const all = [...runtime.active().documents.keys()];
      if (integration !== undefined && !all.includes(integration))
        throw new InnboundError('operate.not_found', `There is no integration ${integration}.`);
      const brands = await healthOf(runtime, integration === undefined ? all : [integration]);
      if (brands.some(({ state }) => !['healthy', 'new', 'paused'].includes(state))) io().exitCode = 1;
      if (options.json) {
        for (const { integration, state, findings, stream, lanes, restsOn, now } of brands) {
          const waiting = Object.fromEntries(lanes.map((lane) => [lane.destination, lane.waiting]));
          const rests = { rests_on: restsOn, last_delivered_at: now.last_delivered_at };
          printJson({ integration, state, ...rests, findings, waiting, ...(stream && { stream }) });
        }
      } else if (brands.length === 0) show('No brand is connected.');
      else {
        const lines = brands.map(({ integration, state, findings, stream, lanes, restsOn, now }) => [
          integration,
          state.replaceAll('_', ' '),
          lanes.map(({ destination, waiting }) => `${destination} ${waiting}`).join(', '),
          [...findings.map(({ message }) => message), evidenceText(restsOn, now.last_delivered_at)].join(' ').trim() +
            streamText(stream),
        ]);
        show(table([['brand', 'state', 'waiting', 'why'], ...lines]));
      }
    });
}

const evidenceText = (restsOn: string | null, last: Date | null): string =>
  restsOn === null ? '' : `${restsOn}, ${last ? `last delivery ${last.toISOString()}` : 'no delivery lately'}.`;

function streamText(stream: StreamNow | null): string {
  if (stream === null) return '';
  const { connected_since: since, last_message_at: last } = stream;
  const connection = since === null ? ' The stream is not connected' : ` Stream connected since ${since.toISOString()}`;
  return `${connection}, ${last === null ? 'no message yet' : `last message at ${last.toISOString()}`}.`;
}
