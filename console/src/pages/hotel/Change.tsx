import { number } from '../../parts/format.ts';

/** By how much we are ahead: +12, −3, or ±0; in percent of what was, on request. */
export function Change({ now, then, inPercent = false }: { now: number; then: number; inPercent?: boolean }) {
  const by = inPercent ? Math.round((100 * (now - then)) / (then || 1)) : now - then;
  const unit = inPercent ? ' %' : '';
  return (
    <span className="small" data-tone={by > 0 ? 'good' : by < 0 ? 'bad' : 'calm'}>
      {by > 0 ? `+${number(by)}${unit}` : by < 0 ? `−${number(-by)}${unit}` : `±0${unit}`}
    </span>
  );
}
