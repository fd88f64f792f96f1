/** An amount without cents, in the reporting currency of the hotel. */
export function money(amount: number, currency: string): string {
  if (currency === '') return Math.round(amount).toLocaleString('en');
  return new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: 0 }).format(amount);
}
