import type { FaultEntry } from './twist.ts';

/** Lists that page wrongly. */
export const listFaults = {
  shift: { what: 'a new booking shifts the list between two pages', twist: () => ({ list: { shift: true } }) },
  wrong_total: { what: 'total is wrong', value: ['by how many', 5], twist: (totalBy) => ({ list: { totalBy } }) },
  cap_limit: {
    what: 'the limit is capped silently',
    value: ['rows', 10],
    twist: (maxLimit) => ({ list: { maxLimit } }),
  },
  first_page_only: { what: 'every page is the first page', twist: () => ({ list: { firstPageOnly: true } }) },
  cursor_loop: { what: 'the last cursor leads back to the start', twist: () => ({ list: { cursorLoop: true } }) },
  endless: { what: 'no page is ever short: the list starts over', twist: () => ({ list: { endless: true } }) },
  duplicate: { what: 'the last row of a page is repeated', twist: () => ({ list: { duplicate: true } }) },
  ignores_range: { what: 'the dates are ignored', twist: () => ({ list: { ignoreRange: true } }) },
  ignores_status: { what: 'the status is ignored', twist: () => ({ list: { ignoreStatus: true } }) },
} as const satisfies Record<string, FaultEntry>;
