/** The checker, for the command line and for tests. */
export { type ApiCheckOptions, checkApi } from './api.ts';
export type { CheckAuth } from './auth.ts';
export { type DocumentAuth, fromDocument } from './auth-document.ts';
export type { Report } from './report/report.ts';
export { type CheckOutput, runApiCheck, runSenderCheck } from './run.ts';
export { type SenderCheck, type SenderCheckOptions, startSenderCheck } from './sender/check.ts';
