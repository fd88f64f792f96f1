import type { Answer } from '../api/client.ts';
import { plural, type Tone } from './format.ts';

type Brand = Answer<'overview.days'>['items'][number];

const nothing = {
  hours: 24,
  pulled_hours: 0,
  events: 0,
  failed_runs: 0,
  refused_events: 0,
  dead_letters: 0,
  unlisted: 0,
};

/** How complete a day of a brand was: green only if every hour had a pull, and nothing failed or was refused. */
export function dayOf(brand: Omit<Brand, 'integration'>, day: string): { pulled?: Tone; pushed?: Tone; text: string } {
  if (!brand.days.some((one) => one.day <= day)) return { text: 'before its first data' };
  const figures = brand.days.find((one) => one.day === day) ?? nothing;
  const { hours, pulled_hours, events, failed_runs, refused_events, dead_letters, unlisted } = figures;
  const share = pulled_hours / Math.max(1, hours);
  const isPushed = brand.push && brand.days.some((one) => one.events + one.refused_events > 0);
  const text = [
    brand.pulls && `a pull found records in ${pulled_hours} of ${plural(hours, 'hour')}`,
    failed_runs > 0 && `${plural(failed_runs, 'run')} failed or incomplete`,
    unlisted > 0 && `${plural(unlisted, 'booking')} left the list`,
    isPushed && (events === 0 ? 'no event' : plural(events, 'event')),
    refused_events > 0 && `${plural(refused_events, 'event')} refused`,
    dead_letters > 0 && plural(dead_letters, 'dead letter'),
  ].filter((one) => typeof one === 'string');
  return {
    ...(brand.pulls && {
      pulled: share < 0.5 ? 'bad' : share < 0.9 || failed_runs + dead_letters + unlisted > 0 ? 'warn' : 'good',
    }),
    ...(isPushed && {
      pushed: events === 0 || refused_events > events ? 'bad' : refused_events + dead_letters > 0 ? 'warn' : 'good',
    }),
    text: text.join(', ') || 'nothing to expect',
  };
}
