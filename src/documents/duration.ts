const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

export const durationForm = /^(\d{1,9})(ms|s|m|h|d)$/;

/** Milliseconds of a duration such as 500ms, 30s, 15m, 1h or 7d; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = durationForm.exec(text) ?? [];
  return amount === undefined || unit === undefined ? undefined : Number(amount) * unitMs[unit as Unit];
}

/** As parseDuration, for text that the schema has already accepted. */
export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new TypeError(`${JSON.stringify(text)} is no duration`);
  return ms;
}

/** The shortest text with a whole number: 900000 is 15m, 60000 is 1m. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= unitMs[unit] && ms % unitMs[unit] === 0) return `${ms / unitMs[unit]}${unit}`;
  }
  return `${ms}ms`;
}
