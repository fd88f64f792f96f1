import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The HTTP library, loaded for the first request: it takes 0.12 s of processor time, and most commands make no request (2 arm64 cores). */
export const client = (): typeof import('undici') => require('undici');
