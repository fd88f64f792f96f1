import type { Timeline } from '../../core/store/records/timeline.ts';
import { reservationRoutes } from '../api/routes/records.ts';
import { call } from './call.ts';
import type { BrandOptions, Command } from './command.ts';
import { printJson, show } from './io.ts';

export function define(command: Command): void {
  command
    .common()
    .requiredOption('-i, --integration <name>', 'the integration of the reservation')
    .notes(`
Example:
  innbound reservation R-1042 --integration lisbon-grand`)
    .inRuntime(async (runtime, id: string, options: BrandOptions) => {
      const ask = { params: { integration: options.integration, id }, query: { limit: '1000' } };
      const timeline = await call<Timeline>(runtime, reservationRoutes, 'reservations.timeline', ask);
      if (options.json) printJson({ ...timeline, reservation_id: id });
      else showTimeline(timeline);
    });
}

function showTimeline({ id, integration, version, history_since: since, timeline, deliveries }: Timeline): void {
  show(`Reservation ${id} of ${integration}, ${version === 0 ? 'never stored' : `now at version ${version}`}\n`);
  if (since) show(`Entries before ${since} were deleted after their retention (retention.history).`);
  for (const entry of timeline) show(`${new Date(entry.at).toISOString()}  ${describe(entry)}`);
  show('');
  for (const row of deliveries) {
    // By next_version: skipped and dropped versions are neither delivered nor waiting.
    const waits = row.last_version - row.next_version + 1;
    const state = row.held_by
      ? `held back by dead letter ${row.held_by}`
      : waits > 0
        ? `${waits} waiting${row.due_at ? `, due ${row.due_at.toISOString()}` : ''}`
        : 'nothing waiting';
    const has = row.delivered_version > 0 ? `delivered up to version ${row.delivered_version}` : 'nothing delivered';
    show(`${row.destination}: ${has}, ${state}`);
  }
}

function describe(entry: Timeline['timeline'][number]): string {
  const text = (key: string): string => (entry[key] === undefined ? '' : String(entry[key]));
  if (entry.what === 'delivery') {
    const status = text('status') && ` (${text('status')})`;
    const took = text('duration_ms') && `, ${text('duration_ms')} ms`;
    const why = text('code') && `, ${text('code')} ${text('message')}`;
    return `${text('destination')}: version ${text('version')} ${text('outcome')}${status}, try ${text('attempt')}${took}${why}`;
  }
  if (entry.what === 'dead_letter') {
    return `dead letter ${text('dead_letter_id')} (${text('state')}): ${text('code')}: ${text('message')}`;
  }
  if (entry.what === 'seen_unchanged') return `seen unchanged by ${text('times')} polls, last at this time`;
  const isHeld = entry.outcome === 'held';
  const result = isHeld
    ? 'values held back'
    : [text('outcome'), text('version') && `version ${text('version')}`].join(' ');
  const lines = [`${text('cause')} ${text('cause_id')}: ${result}`];
  if (entry.reason) lines.push(`    ${text('reason')}`);
  for (const { path, before, after } of (entry.diff ?? []) as { path: string; before?: unknown; after?: unknown }[]) {
    lines.push(`    ${path}: ${JSON.stringify(before) ?? '(none)'} -> ${JSON.stringify(after) ?? '(none)'}`);
  }
  for (const note of (entry.notes ?? []) as { field: string; reason: string }[])
    lines.push(`    ${note.field}: ${note.reason}`);
  return lines.join('\n').trimEnd();
}
