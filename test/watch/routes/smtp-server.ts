/** The parts of an SMTP server that a client uses: EHLO, STARTTLS, AUTH PLAIN, one mail after another. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

const fixture = (name: string) => readFileSync(new URL(`../../kit/fixtures/${name}`, import.meta.url), 'utf8');

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly encrypted: boolean;
  readonly user: string | undefined;
}

export interface SmtpServer {
  readonly port: number;
  readonly mails: Mail[];
  /** The answer to RCPT, such as 550. */
  refusal: number | undefined;
  close(): void;
}

export async function smtpServer({ password }: { readonly password?: string } = {}): Promise<SmtpServer> {
  const mails: Mail[] = [];
  const sockets = new Set<Socket>();
  const state: { refusal: number | undefined } = { refusal: undefined };
  const talk = (socket: Socket, encrypted: boolean): void => {
    let text = '';
    let data: string | undefined;
    let from = '';
    let to: string[] = [];
    let user: string | undefined;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const command = (line: string): void => {
      const [word = ''] = line.toUpperCase().split(' ', 1);
      if (word === 'EHLO') {
        say('250-localhost');
        if (!encrypted && password !== undefined) say('250-STARTTLS');
        if (password !== undefined) say('250-AUTH PLAIN');
        say('250 8BITMIME');
      } else if (word === 'STARTTLS') {
        say('220 go ahead');
        socket.removeAllListeners('data');
        const secureContext = createSecureContext({ key: fixture('partner-key.pem'), cert: fixture('partner.pem') });
        talk(new TLSSocket(socket, { isServer: true, secureContext }), true);
      } else if (word === 'AUTH') {
        const [, name = '', shown = ''] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
          .toString()
          .split('\0');
        user = shown === password ? name : undefined;
        say(user === undefined ? '535 authentication failed' : '235 welcome');
      } else if (word === 'MAIL') {
        from = /<(.*?)>/.exec(line)?.[1] ?? '';
        to = [];
        say(password !== undefined && user === undefined ? '530 authenticate first' : '250 ok');
      } else if (word === 'RCPT') {
        to.push(/<(.*?)>/.exec(line)?.[1] ?? '');
        say(state.refusal === undefined ? '250 ok' : `${state.refusal} no such ${to[0]}`);
      } else if (word === 'DATA') {
        data = '';
        say('354 go on');
      } else if (word === 'QUIT') {
        say('221 bye');
        socket.end();
      } else say('250 ok');
    };
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (let end = text.indexOf('\r\n'); end !== -1; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (data === undefined) command(line);
        else if (line === '.') {
          mails.push({ from, to, text: data, encrypted, user });
          data = undefined;
          say('250 taken');
        } else data += `${line}\n`;
      }
    });
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.write('220 localhost\r\n');
    talk(socket, false);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return Object.assign(state, {
    port: (server.address() as AddressInfo).port,
    mails,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
}
