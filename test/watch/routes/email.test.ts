import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openSocket } from '../../../src/core/outbound/socket.ts';
import { requestOf } from '../../../src/operator/watch/routes/requests.ts';
import type { EmailSettings, Notice } from '../../../src/operator/watch/routes/route.ts';
import { mailOf, sendMail } from '../../../src/operator/watch/routes/send.ts';
import { smtpServer } from './smtp-server.ts';

const notice: Notice = {
  alert: {
    alert_id: 'alr_1',
    kind: 'test',
    integration: '',
    subject: '',
    severity: 'warning',
    message: 'Something.',
    raised_at: new Date(0),
    resolved_at: null,
  },
  news: 'raised',
  link: undefined,
};

/** Sends a mail to a server that answers its first command as it likes. */
async function sendTo(t: TestContext, answer: (socket: Socket) => void, deadlineMs: number): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write('220 mail.example\r\n');
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const settings = {
    host: '127.0.0.1',
    port,
    security: 'none',
    from: 'a@hotels.example',
    to: ['b@hotels.example'],
  } satisfies EmailSettings;
  const open = (host: string) => openSocket(host, port, { allowPrivate: true, timeoutMs: 5_000, lifeMs: deadlineMs });
  return sendMail(settings, mailOf(notice, settings), { connect: open }).then(
    () => 'sent',
    (error: { code?: string }) => error.code ?? 'failed',
  );
}

test('a text inside an alert forges no line, link or direction in any route', async (t) => {
  const smtp = await smtpServer();
  t.after(() => smtp.close());
  const { port } = smtp;
  const connectTo = async () => {
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    return socket;
  };
  const hostile = [
    'x\nRaised: never\n\nhttps://elsewhere.example',
    '[Open](https://elsewhere.example)',
    '![](https://elsewhere.example/p)',
    '\u202egnp\u001b[2J',
    'x'.repeat(100_000),
  ];
  for (const text of hostile) {
    for (const field of ['message', 'subject', 'integration']) {
      const forged: Notice = { ...notice, alert: { ...notice.alert, [field]: text } };
      const shared = { url: 'https://vendor.example', routing_key: 'r', api_key: 'a', severities: [] };
      const shown = (['slack', 'teams', 'opsgenie', 'pagerduty'] as const).map((type) =>
        JSON.stringify(requestOf({ type, ...shared } as Parameters<typeof requestOf>[0], forged).body),
      );
      const settings = {
        host: '127.0.0.1',
        port,
        security: 'none',
        from: 'a@hotels.example',
        to: ['b@hotels.example'],
      } satisfies EmailSettings;
      await sendMail(settings, mailOf(forged, settings), { connect: connectTo });
      const { text: mail = '' } = smtp.mails.at(-1) ?? {};
      for (const one of [...shown, JSON.stringify(mail)]) {
        assert.doesNotMatch(one, /\\nRaised: never|\]\(|\u202e|\\u001b/, one.slice(0, 500));
        assert.ok(one.length < 20_000, `${one.length} characters`);
      }
    }
  }
});

test('a mail server that answers slowly and without end does not hold up the other alerts', async (t) => {
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('250-more\r\n'), 10);
    socket.on('close', () => clearInterval(timer));
  };
  assert.equal(await sendTo(t, drip, 300), 'ESOCKET');
});

test('a mail server whose answer exceeds 1 MiB is cut off', async (t) => {
  const block = `250-${'x'.repeat(65_530)}\r\n`;
  const flood = (socket: Socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', more);
    more();
  };
  assert.equal(await sendTo(t, flood, 60_000), 'EPROTOCOL');
});
