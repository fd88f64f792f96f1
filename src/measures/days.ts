export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

/** 52 weeks: the same weekday. */
export const year = 364;

/** From the first day to the last, both included. */
export function daysBetween(first: string, last: string): string[] {
  const count = Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => addDays(first, i));
}
