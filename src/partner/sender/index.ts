/** What partners use. Nothing in this folder knows the service: node built-ins only. */
export type { BackoffOptions } from './backoff.ts';
export type { DeadLetter, Failure, OutgoingEvent } from './letter.ts';
export {
  type Observation,
  type SenderStats,
  type SendResult,
  WebhookSender,
  type WebhookSenderOptions,
} from './sender.ts';
export { sign, signedHeaders } from './sign.ts';
