const plainKey = /^[A-Za-z_][\w-]*$/;

/** A path in the connector document; any key is allowed: map.extra["loyalty.level"]. */
export function documentPath(base: string, key: string): string {
  return plainKey.test(key) ? `${base}.${key}` : `${base}[${JSON.stringify(key)}]`;
}
