import { reservationRoutes } from '../api/routes/records.ts';
import { call } from './call.ts';
import type { BrandOptions, Command } from './command.ts';
import { print } from './print.ts';

const lists = {
  deliveries: ['destination', 'delivered_version', 'delivered_at', 'last_version', 'attempt', 'due_at', 'waits_for'],
  timeline: ['at', 'what', 'outcome', 'version', 'cause', 'cause_id', 'destination', 'code', 'reason', 'diff'],
  notes: ['version', 'step', 'field', 'reason'],
};

interface Story {
  readonly data?: object;
  readonly timeline: readonly { readonly version?: number; readonly notes?: readonly object[] }[];
}

export function define(command: Command): void {
  command
    .common()
    .requiredOption('-i, --integration <name>', 'the integration of the reservation')
    .notes(`
Example:
  innbound reservation R-1042 --integration lisbon-grand`)
    .inRuntime(async (runtime, id: string, options: BrandOptions) => {
      const ask = { params: { integration: options.integration, id }, query: { limit: '1000' } };
      const story = await call<Story>(runtime, reservationRoutes, 'reservations.timeline', ask);
      if (options.json) return print(options, { ...story, reservation_id: id });
      const { data: _, ...told } = story;
      const notes = story.timeline.flatMap(({ version, notes: all = [] }) => all.map((note) => ({ version, ...note })));
      print(options, { ...told, notes }, { lists });
    });
}
