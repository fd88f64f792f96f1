import type { Socket } from 'node:net';
import type { Http } from '../../../core/outbound/http.ts';
import { retryAfterMs } from '../../../core/outbound/retry-after.ts';
import type { EpochMs } from '../../../terms.ts';
import { requestOf } from './requests.ts';
import { cut, type EmailSettings, factsOf, headline, type Notice, type RouteSettings } from './route.ts';

export type RouteAnswer =
  | { readonly kind: 'sent' }
  /** The message names no secret: neither the URL of a webhook nor a key. */
  | { readonly kind: 'failed'; readonly message: string; readonly afterMs?: number };

const deadlineMs = 15_000;

/** Sends a notice and returns the outcome; never throws. */
export async function sendNotice(
  settings: RouteSettings,
  notice: Notice,
  ports: { readonly http: Http; readonly mail: MailPorts; readonly now: () => EpochMs },
): Promise<RouteAnswer> {
  if (settings.type === 'email') return sendByMail(settings, mailOf(notice, settings), ports.mail);
  const { url, headers = {}, body } = requestOf(settings, notice);
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

export interface MailPorts {
  /** Opens a connection to an address that may be reached, for a limited time: a slow server must not hold up the alerts behind it. */
  readonly connect: (host: string, port: number) => Promise<Socket>;
  /** Further certificate authorities, in PEM. */
  readonly ca?: readonly string[] | undefined;
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly messageId?: string;
  readonly inReplyTo?: string;
  readonly references?: string;
}

/** The mails about one alert form a thread. */
export function mailOf(notice: Notice, { from }: Pick<EmailSettings, 'from'>): Mail {
  const facts = factsOf(notice).map(([name, value]) => `${name}: ${value}`);
  const link = notice.link === undefined ? [] : ['', notice.link];
  const thread = `<${notice.alert.alert_id}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  return {
    subject: headline(notice),
    text: [headline(notice), '', ...facts, ...link, ''].join('\n'),
    ...(notice.news === 'raised' ? { messageId: thread } : { inReplyTo: thread, references: thread }),
  };
}

/** Sends one mail. Rejects with the server's answer. */
export async function sendMail(settings: EmailSettings, mail: Mail, ports: MailPorts): Promise<void> {
  const { host, port, security, user, password = '', from, to } = settings;
  // Loaded for the first mail: it takes 0.15 s of processor time (2 arm64 cores).
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user !== undefined && { auth: { user, pass: password } }),
    ...(ports.ca && { tls: { ca: [...ports.ca] } }),
    // The socket is ours, so that mail cannot reach a private network either.
    getSocket: (_options, callback) => {
      ports.connect(host, port).then(
        (connection) => callback(null, { connection }),
        (error: Error) => callback(error),
      );
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from,
      to: [...to],
      ...mail,
      subject: cut(`[Innbound] ${mail.subject}`, 200),
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  } finally {
    transport.close();
  }
}
