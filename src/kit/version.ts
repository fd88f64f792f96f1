import { readFileSync } from 'node:fs';

/** From package.json, the only place where the version is written. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
