/** The checker, for the command line and for tests. */
export type { CheckAuth } from './auth.ts';
export { runApiCheck, runSenderCheck } from './run.ts';
