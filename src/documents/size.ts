const unitBytes = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
type Unit = keyof typeof unitBytes;

export const sizeForm = /^(\d{1,9})(B|KiB|MiB|GiB)$/;

/** Bytes of a size such as 512KiB or 1MiB; undefined for any other text. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = sizeForm.exec(text) ?? [];
  return amount === undefined || unit === undefined ? undefined : Number(amount) * unitBytes[unit as Unit];
}

/** As parseSize, for text that the schema has already accepted. */
export function sizeBytes(text: string): number {
  const bytes = parseSize(text);
  if (bytes === undefined) throw new TypeError(`${JSON.stringify(text)} is no size`);
  return bytes;
}
