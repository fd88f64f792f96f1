export const dayOffsetForm = /^([+-]?)(\d{1,4})d$/;

/** Days from today for an offset such as +1d, 0d or -6d; undefined for any other text. */
export function parseDayOffset(text: string): number | undefined {
  const [, sign, days] = dayOffsetForm.exec(text) ?? [];
  if (days === undefined) return undefined;
  return sign === '-' && Number(days) > 0 ? -Number(days) : Number(days);
}

/** As parseDayOffset, for text that the schema has already accepted. */
export function dayOffset(text: string): number {
  const days = parseDayOffset(text);
  if (days === undefined) throw new TypeError(`${JSON.stringify(text)} is no day offset`);
  return days;
}
