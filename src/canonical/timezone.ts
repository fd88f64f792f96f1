/** Also of older names and links, such as Europe/Kiev or Asia/Calcutta, which `Intl.supportedValuesOf` leaves out. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The date of an instant in a time zone. */
export function localDateAt(timezone: string, epochMs: number): string {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timezone).toPlainDate().toString();
}
