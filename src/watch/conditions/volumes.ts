import type { Facts } from '../facts.ts';
import { counted, type Judged } from './judged.ts';

export function* ofVolumes({ volumes }: Facts): Generator<Judged> {
  for (const { integration, measure, now, usual, listsChanges, history } of volumes) {
    const detail = { measure, now, usual, history: [...history] };
    const about = { state: 'attention' as const, integration, detail };
    const [few, many] = [Math.round(now), Math.round(usual)];
    if (measure === 'events') {
      const message = `${counted(few, 'event')} in 24 hours; this weekday usually has about ${many}.`;
      yield { ...about, kind: 'feed_low', subject: 'push', message };
    } else if (measure === 'rows') {
      const what = listsChanges ? 'The runs of 24 hours brought' : 'A run brings';
      const message = `${what} ${counted(few, 'reservation')}; on this weekday it is usually about ${many}.`;
      yield { ...about, kind: 'feed_low', subject: 'pull', message };
    } else if (measure === 'run_seconds') {
      const message = `Runs take ${few} seconds on average; on this weekday it is usually ${many}.`;
      yield { ...about, kind: 'runs_slow', message };
    } else {
      const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`;
      const message = `${percent(now)} of the rows and events of 24 hours became dead letters; usually it is ${percent(usual)}.`;
      yield { ...about, kind: 'dead_letter_share', message };
    }
  }
}
