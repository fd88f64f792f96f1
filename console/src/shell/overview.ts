import { useEvery } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview } from '../api/types.ts';
import { faultsOf } from '../parts/faults.ts';

/** What the frame of every page shows: badges, and whether the service answers. */
const useOverview = () => useApi('overview.get', { period: '15m' }, { everyMs: useEvery(10) });
/** How much is open; `wrong` counts what is wrong, `unwell` brands. */
export function useCounts(): (Overview['totals'] & { wrong: number; unwell: number }) | undefined {
  const { data } = useOverview();
  if (data === undefined) return undefined;
  const { attention, failing, auth_failed } = data.states;
  return { ...data.totals, wrong: faultsOf(data).count, unwell: attention + failing + auth_failed };
}
