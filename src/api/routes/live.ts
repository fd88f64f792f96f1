import { z } from 'zod';
import { type Api, instant, type Route, route } from '../route.ts';

export function liveRoutes({ live }: Api): Route[] {
  return [
    route('GET /live', {
      id: 'live',
      summary: 'Live events, as server-sent events',
      description:
        'activity: counts of the last ten seconds of each integration; run: progress of a run; change: a new version of a record; event: an accepted webhook; alert: raised, acknowledged or resolved. A comment every 15 seconds keeps the connection open.',
      role: 'viewer',
      scope: 'any',
      media: 'text/event-stream',
      query: z.strictObject({ integration: z.string().optional() }),
      response: z.object({ at: instant }).describe('The data of an event.'),
      handle: ({ within }) => {
        const allowed = within && new Set(within);
        const isVisible = (integration: string): boolean => allowed === undefined || allowed.has(integration);
        let stop: (() => void) | undefined;
        return {
          kind: 'stream',
          open: (send) => {
            stop = live.follow(({ event, integration, data, shared }) => {
              if (isVisible(integration)) send(event, data);
              else if (shared?.brands.some(isVisible)) send(event, shared.data);
            });
            return stop !== undefined;
          },
          close: () => stop?.(),
        };
      },
    }),
  ];
}
