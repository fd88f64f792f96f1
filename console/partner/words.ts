/** Our names of fields as words: `guests.email_raw` is the e-mail of a guest, however it was written. */
export const fieldWords = (name: string): string =>
  name
    .replace(/\bguests\b(\[\d+\])?\.?/, 'guest ')
    .replace(/\brooms\b(\[\d+\])?\.?/, 'room ')
    .replace(/\bcharges\b(\[\d+\])?\.?/, 'charge ')
    .replace(/_raw\b/, '')
    .replace(/\bemail\b/, 'e-mail')
    .replaceAll(/[._]/g, ' ')
    .trim();
