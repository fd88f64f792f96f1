import path from 'node:path';

/** For modules that are found by their name: `.ts` in a clone, `.js` in the published package. */
export const moduleSuffix: string = path.extname(import.meta.filename);
