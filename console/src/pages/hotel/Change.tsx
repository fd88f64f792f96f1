import { number } from '../../parts/format.ts';

/** By how much we are ahead: +12, −3, or ±0; in percent of what was, or in points of a percentage, on request. */
export function Change({
  now,
  then,
  as = 'number',
}: {
  now: number;
  then: number;
  as?: 'number' | 'percent' | 'points';
}) {
  const difference = { number: now - then, percent: (100 * (now - then)) / (then || 1), points: 100 * (now - then) }[
    as
  ];
  const by = Math.round(difference);
  const unit = { number: '', percent: ' %', points: ' pts' }[as];
  return (
    <span className="small" data-tone={by > 0 ? 'good' : by < 0 ? 'bad' : 'calm'}>
      {by > 0 ? `+${number(by)}${unit}` : by < 0 ? `−${number(-by)}${unit}` : `±0${unit}`}
    </span>
  );
}
