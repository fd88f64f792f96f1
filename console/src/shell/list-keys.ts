/** Moves the focus to the next or the previous row of the page's lists: to its first link or button. */
export function moveInList(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main table.list tbody tr, main .causes li')].flatMap(
    (row) => row.querySelector<HTMLElement>('a, button') ?? [],
  );
  const at = rows.findIndex((one) => one.closest('tr, li')?.contains(document.activeElement));
  const next = rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
