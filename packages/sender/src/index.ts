/** The public interface for partners. This folder depends on Node built-ins only. */

export { type BackoffOptions, retryAfterMs } from './backoff.ts';
export type { DeadLetter, Failure, OutgoingEvent } from './letter.ts';
export type { Observation, SenderStats, SendResult, WebhookSenderOptions } from './options.ts';
export { cause } from './post.ts';
export { WebhookSender } from './sender.ts';
export { sign, signedHeaders } from './sign.ts';
