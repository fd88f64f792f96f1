/** What partners use. Nothing in this folder knows the service: node built-ins only. */
export type { BackoffOptions } from './backoff.ts';
export type { DeadLetter, Failure, OutgoingEvent } from './letter.ts';
export type { Observation, SenderStats, SendResult, WebhookSenderOptions } from './options.ts';
export { WebhookSender } from './sender.ts';
export { sign, signedHeaders } from './sign.ts';
