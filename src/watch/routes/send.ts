import type { Http } from '../../outbound/http.ts';
import { retryAfterMs } from '../../outbound/retry-after.ts';
import type { EpochMs } from '../../terms.ts';
import { type Mail, type MailPorts, mailOf, sendMail } from './email.ts';
import { requestOf } from './requests.ts';
import type { EmailSettings, Notice, RouteSettings } from './route.ts';

export type RouteAnswer =
  | { readonly kind: 'sent' }
  /** The message names no secret: neither the URL of a webhook nor a key. */
  | { readonly kind: 'failed'; readonly message: string; readonly afterMs?: number };

export interface SendPorts {
  readonly http: Http;
  readonly mail: MailPorts;
  readonly now: () => EpochMs;
}

const deadlineMs = 15_000;

/** Sends a notice and returns the outcome; never throws. */
export async function sendNotice(settings: RouteSettings, notice: Notice, ports: SendPorts): Promise<RouteAnswer> {
  if (settings.type === 'email') return sendByMail(settings, mailOf(notice, settings), ports.mail);
  const { url, headers, body } = requestOf(settings, notice);
  const answer = await ports.http.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    deadlineMs,
    idleMs: deadlineMs,
    expects: 'short',
  });
  if (answer.kind === 'failed') return { kind: 'failed', message: `No answer: ${answer.message}.` };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const afterMs = retryAfterMs(answer.headers['retry-after'], ports.now());
  return { kind: 'failed', message: `${settings.type} answered ${status}.`, ...(afterMs !== undefined && { afterMs }) };
}

/** Sends a mail and returns the outcome; never throws. */
export async function sendByMail(settings: EmailSettings, mail: Mail, ports: MailPorts): Promise<RouteAnswer> {
  try {
    await sendMail(settings, mail, ports);
    return { kind: 'sent' };
  } catch (error) {
    // A server's answer may quote credentials or addresses, so only its code is kept.
    const { code, responseCode } = error as { code?: string; responseCode?: number };
    const said = responseCode === undefined ? (code ?? 'no connection') : `${responseCode}`;
    return { kind: 'failed', message: `The SMTP server ${settings.host} did not accept the mail: ${said}.` };
  }
}
