import type { Socket } from 'node:net';
import { cut, type EmailSettings, factsOf, headline, type Notice } from './route.ts';

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
  const thread = `<${notice.alert.alert_id}@${from.slice(from.lastIndexOf('@') + 1)}>`;
  return {
    subject: headline(notice),
    text: textOf(notice),
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

function textOf(notice: Notice): string {
  const facts = factsOf(notice).map(([name, value]) => `${name}: ${value}`);
  return [headline(notice), '', ...facts, ...(notice.link === undefined ? [] : ['', notice.link]), ''].join('\n');
}
