import type { Json } from '../api/types.ts';

/** The value of a key, if the value around it is an object. */
export const inside = (value: Json | undefined, key: string): Json | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value[key] : undefined;
