/** Where a mapping may take the value of a canonical field from. A field names exactly one of these. */
export const valueSources = [
  'path',
  'const',
  'first',
  'join',
  'sum',
  'product',
  'min',
  'max',
  'count',
  'pick',
  'lookup',
] as const;
