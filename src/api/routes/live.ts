import { z } from 'zod';
import { instant, type Route, route } from '../route.ts';

/** What the console sees happen. Data holds ids, counts and states, never guest data. */
export interface LiveEvent {
  readonly event: 'activity' | 'run' | 'change' | 'alert' | 'event';
  readonly integration: string;
  readonly data: unknown;
}

export interface LivePorts {
  /** Tells of everything from now on, until the given function is called; undefined where too many listen already. */
  readonly follow: (tell: (event: LiveEvent) => void) => (() => void) | undefined;
}

export function liveRoutes(ports: LivePorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/live',
      id: 'live',
      summary: 'What happens now, as server-sent events',
      description:
        'activity: counts of the last ten seconds of each brand; run: progress of a run; change: a new version of a record; event: a webhook taken; alert: raised, acknowledged or resolved. A comment every 15 seconds keeps the connection.',
      tag: 'overview',
      role: 'viewer',
      scope: 'any',
      media: 'text/event-stream',
      query: z.strictObject({ integration: z.string().optional() }),
      response: z.object({ at: instant }).describe('The data of an event.'),
      handle: ({ query, within }) => {
        const mayTell = (integration: string): boolean =>
          (within === undefined || within.includes(integration)) &&
          (query.integration === undefined || query.integration === integration);
        let stop: (() => void) | undefined;
        return {
          kind: 'stream',
          open: (send) => {
            stop = ports.follow(({ event, integration, data }) => {
              if (mayTell(integration)) send(event, data);
            });
            return stop !== undefined;
          },
          close: () => stop?.(),
        };
      },
    }),
  ];
}
