import type { FaultEntry } from './twist.ts';

/** Lists that mislead. */
export const listFaults = {
  shift: { what: 'someone books at the head of the list between two pages', twist: () => ({ list: { shift: true } }) },
  wrong_total: { what: 'total is off', value: ['by how many', 5], twist: (totalBy) => ({ list: { totalBy } }) },
  cap_limit: {
    what: 'the limit is cut without a word',
    value: ['rows', 10],
    twist: (maxLimit) => ({ list: { maxLimit } }),
  },
  first_page_only: { what: 'every page is the first one', twist: () => ({ list: { firstPageOnly: true } }) },
  cursor_loop: { what: 'the last cursor leads back to the start', twist: () => ({ list: { cursorLoop: true } }) },
  endless: { what: 'a page is never short: the list begins anew', twist: () => ({ list: { endless: true } }) },
  duplicate: { what: 'the last row of a page comes twice', twist: () => ({ list: { duplicate: true } }) },
  ignores_range: { what: 'the dates are read and not used', twist: () => ({ list: { ignoreRange: true } }) },
  ignores_status: { what: 'the status is read and not used', twist: () => ({ list: { ignoreStatus: true } }) },
} as const satisfies Record<string, FaultEntry>;
