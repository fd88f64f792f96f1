import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { alertRoutes, routesFor } from '../../../src/operator/operations/alert-routes.ts';
import { sendDueAlerts, watchOnce } from '../../../src/operator/operations/watch-once.ts';
import { type Alert, sendStore, settleAlerts } from '../../../src/operator/store/alerts.ts';
import { type ApiNode, apiNode } from '../../api/node.ts';
import { innbound } from '../../support/process.ts';
import { type SmtpServer, smtpServer } from './smtp-server.ts';

/** Each vendor as a server that takes requests of the documented form only. */

interface Seen {
  readonly vendor: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies by name
  readonly body: any;
}

const seen: Seen[] = [];
let answer: { status: number; headers?: Record<string, string> } | undefined;
const vendors = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    const [, vendor = ''] = (request.url ?? '').split('/');
    if (answer !== undefined) return response.writeHead(answer.status, answer.headers).end();
    const body = JSON.parse(text);
    const problem =
      request.headers['content-type'] === 'application/json'
        ? problemOf(vendor, request.url ?? '', request.headers, body)
        : 'content type';
    if (problem !== undefined) return response.writeHead(400).end(problem);
    seen.push({ vendor, url: request.url ?? '', headers: request.headers, body });
    return response.writeHead(vendor === 'slack' || vendor === 'hook' ? 200 : 202).end();
  });
});

// biome-ignore lint/suspicious/noExplicitAny: a body of unknown form
function problemOf(vendor: string, url: string, headers: IncomingHttpHeaders, body: any): string | undefined {
  const is = (wrong: Record<string, boolean>) => Object.entries(wrong).find(([, value]) => !value)?.[0];
  if (vendor === 'slack') return is({ text: typeof body.text === 'string' && body.text.length <= 4000 });
  if (vendor === 'teams') {
    const [card] = body.attachments ?? [];
    return is({
      type: body.type === 'message',
      one: body.attachments?.length === 1,
      contentType: card?.contentType === 'application/vnd.microsoft.card.adaptive',
      card: card?.content?.type === 'AdaptiveCard' && /^1\.\d$/.test(card.content.version),
      body: Array.isArray(card?.content?.body),
    });
  }
  if (vendor === 'pagerduty') {
    const { payload, event_action: action } = body;
    return is({
      url: url === '/pagerduty/v2/enqueue',
      routing_key: body.routing_key === 'R'.repeat(32),
      action: ['trigger', 'acknowledge', 'resolve'].includes(action),
      dedup_key: typeof body.dedup_key === 'string' && body.dedup_key.length <= 255,
      payload: action !== 'trigger' || (payload.summary.length <= 1024 && payload.source !== ''),
      severity: action !== 'trigger' || ['critical', 'error', 'warning', 'info'].includes(payload.severity),
    });
  }
  if (vendor === 'opsgenie') {
    const closes = /^\/opsgenie\/v2\/alerts\/[^/]+\/close\?identifierType=alias$/.test(url);
    return is({
      key: headers.authorization === 'GenieKey opsgenie-key-1',
      url: closes || url === '/opsgenie/v2/alerts',
      message: closes || (typeof body.message === 'string' && body.message.length <= 130),
      alias: closes || (typeof body.alias === 'string' && body.alias.length <= 512),
      priority: closes || /^P[1-5]$/.test(body.priority),
      details: closes || Object.values(body.details).every((value) => typeof value === 'string'),
    });
  }
  return undefined;
}

let node: ApiNode;
let smtp: SmtpServer;
describe('alert routes', () => {
  before(async () => {
    await new Promise<void>((ready) => vendors.listen(0, '127.0.0.1', ready));
    smtp = await smtpServer({ password: 'mail-password-1' });
    const at = `http://127.0.0.1:${(vendors.address() as AddressInfo).port}`;
    const ca = new URL('../../kit/fixtures/authority.pem', import.meta.url).pathname;
    node = await apiNode(
      `public_url: https://hub.example
network: { ca: ${ca} }
alerts:
  routes:
    chat: { type: slack, url: "${at}/slack/T0/B0/secret-of-slack" }
    team: { type: teams, url: "${at}/teams/workflow", integrations: [other] }
    pager: { type: pagerduty, routing_key: ${'R'.repeat(32)}, url: "${at}/pagerduty/", severities: [critical] }
    genie: { type: opsgenie, api_key: opsgenie-key-1, url: "${at}/opsgenie" }
    hook: { type: webhook, url: "${at}/hook" }
    post:
      type: email
      host: localhost
      port: ${smtp.port}
      user: innbound
      password: mail-password-1
      from: innbound@hotels.example
      to: [night@hotels.example, desk@hotels.example]
`,
    );
  });
  after(async () => {
    await node.stop();
    vendors.close();
    smtp.close();
  });
  beforeEach(async () => {
    await node.runtime.pool.query('delete from alerts');
    seen.length = 0;
    smtp.mails.length = 0;
    answer = undefined;
  });

  const condition = (more: Partial<Alert> = {}): Alert => ({
    kind: 'auth_failed',
    integration: 'grand',
    subject: 'pull',
    severity: 'critical',
    message: 'The partner refuses <the> credentials & more.',
    detail: {},
    ...more,
  });
  const kinds = ['auth_failed', 'run_incomplete'];
  const settle = (conditions: readonly Alert[], now = Date.now()) =>
    settleAlerts(node.runtime.pool, conditions, kinds, (alert, news) =>
      routesFor(alertRoutes(node.runtime), alert, news, now),
    );
  const send = () => sendDueAlerts(node.runtime);
  const by = (vendor: string) => seen.filter((one) => one.vendor === vendor);

  test('every vendor gets the beginning and the end of an alert in its own form', async () => {
    const { raised } = await settle([
      condition({ message: `The partner refuses <the> credentials & more. ${'x'.repeat(2_000)}` }),
    ]);
    assert.equal(await send(), 5);
    assert.equal(await send(), 0);
    const id = raised[0]?.alert_id ?? '';
    assert.match(
      by('slack')[0]?.body.text,
      /^:red_circle: \*Critical: The partner refuses &lt;the&gt; credentials &amp; more\./,
    );
    assert.equal(by('pagerduty')[0]?.body.dedup_key, id);
    assert.equal(by('pagerduty')[0]?.body.payload.severity, 'critical');
    assert.equal(by('opsgenie')[0]?.body.alias, id);
    assert.equal(by('hook')[0]?.body.type, 'alert.raised');
    assert.deepEqual(by('teams'), [], 'limited to another brand');
    const [mail] = smtp.mails;
    assert.deepEqual(
      [mail?.from, mail?.to, mail?.user, mail?.encrypted],
      ['innbound@hotels.example', ['night@hotels.example', 'desk@hotels.example'], 'innbound', true],
    );
    assert.match(mail?.text ?? '', /^Subject: =\?UTF-8\?Q\?=5BInnbound=5D_Critical=3A_The_partner_r/m);
    assert.match(mail?.text ?? '', /https:\/\/hub\.example\/alerts/);

    await settle([]);
    assert.equal(await send(), 5);
    assert.match(by('slack')[1]?.body.text, /Resolved: /);
    assert.deepEqual(by('pagerduty')[1]?.body, { routing_key: 'R'.repeat(32), dedup_key: id, event_action: 'resolve' });
    assert.equal(by('opsgenie')[1]?.url, `/opsgenie/v2/alerts/${id}/close?identifierType=alias`);
    assert.equal(by('hook')[1]?.body.type, 'alert.resolved');
    const thread = /^Message-ID: (.*)$/im.exec(mail?.text ?? '')?.[1];
    assert.equal(/^In-Reply-To: (.*)$/im.exec(smtp.mails[1]?.text ?? '')?.[1], thread);
    assert.equal(await send(), 0);
  });

  test('a line break in an alert adds no header, no recipient and no command to its mail', async () => {
    const lines = ['Refused.', 'Bcc: eve@elsewhere.example', '', '.', 'MAIL FROM:<eve@elsewhere.example>', 'QUIT'];
    await settle([condition({ message: lines.join('\r\n'), subject: 'pull\r\nX-Added: 1' })]);
    await send();
    assert.equal(smtp.mails.length, 1);
    const { text = '', to } = smtp.mails[0] ?? {};
    assert.deepEqual(to, ['night@hotels.example', 'desk@hotels.example']);
    const headers = text.slice(0, text.indexOf('\n\n')).replace(/\n[ \t]+/g, ' ');
    assert.match(headers, /^Subject: .*Refused\. Bcc: eve/m, 'the break is a space in the subject');
    const names = [...headers.matchAll(/^([^:\s]+):/gm)].map(([, name]) => name);
    assert.deepEqual(names.sort(), [
      'Auto-Submitted',
      'Content-Transfer-Encoding',
      'Content-Type',
      'Date',
      'From',
      'MIME-Version',
      'Message-ID',
      'Subject',
      'To',
    ]);
  });

  test('routes choose by severity and brand', async () => {
    await settle([condition({ kind: 'run_incomplete', integration: 'other', severity: 'warning' })]);
    await send();
    assert.deepEqual(seen.map(({ vendor }) => vendor).sort(), ['hook', 'opsgenie', 'slack', 'teams']);
    assert.equal(by('teams')[0]?.body.attachments[0].content.body[0].color, 'Warning');
    assert.equal(by('opsgenie')[0]?.body.priority, 'P3');
    // The severity rises: routes for critical alerts get it now, the others do not get it twice.
    await settle([condition({ kind: 'run_incomplete', integration: 'other', severity: 'critical' })]);
    await send();
    assert.deepEqual(seen.map(({ vendor }) => vendor).sort(), ['hook', 'opsgenie', 'pagerduty', 'slack', 'teams']);
  });

  test('an alert that ends before it was sent is sent to webhooks only', async () => {
    await settle([condition()]);
    await settle([]);
    await send();
    assert.deepEqual(
      seen.map(({ vendor, body }) => [vendor, body.type]),
      [['hook', 'alert.resolved']],
    );
    assert.equal(smtp.mails.length, 0);
  });

  test('a node that dies while it sends loses nothing, and the vendor can tell a repetition', async () => {
    await settle([condition()]);
    const store = sendStore(node.runtime.pool);
    // Claimed by a node that dies after PagerDuty has accepted the alert.
    const claims = await store.claim(20, 0);
    assert.equal(claims.length, 5);
    await settle([]);
    await send();
    assert.equal(
      by('pagerduty')[0]?.body.event_action,
      'resolve',
      'the alert may have arrived, so its end is sent too',
    );
    const stale = claims.find(({ route }) => route === 'pager');
    assert.ok(stale);
    await store.settle(stale, { kind: 'sent', news: 'raised' });
    assert.equal(await send(), 0, 'the settlement of the dead node has no effect');
  });

  test('a failure is retried, with the vendor’s Retry-After, and a route that keeps failing raises an alert', async () => {
    answer = { status: 429, headers: { 'retry-after': '600' } };
    smtp.refusal = 550;
    await settle([condition()]);
    assert.equal(await send(), 0);
    const { rows } = await node.runtime.pool.query<{ route: string; wait: number; failure: string }>(
      `select route, round(extract(epoch from due_at - now()))::int as wait, failure from alert_sends order by route`,
    );
    assert.deepEqual(
      rows.map(({ route, wait, failure }) => [route, wait > 500, failure]),
      [
        ['chat', true, 'slack answered 429.'],
        ['genie', true, 'opsgenie answered 429.'],
        ['hook', true, 'webhook answered 429.'],
        ['pager', true, 'pagerduty answered 429.'],
        ['post', false, 'The SMTP server localhost did not accept the mail: 550.'],
      ],
    );
    for (let i = 0; i < 3; i++) {
      await node.runtime.pool.query(`update alert_sends set due_at = now() where route = 'post'`);
      await send();
    }
    answer = undefined;
    await watchOnce(node.runtime);
    const failing = by('slack').map(({ body }) => body.text);
    assert.equal(failing.length, 1);
    assert.match(failing[0], /The alert route post does not accept alerts: .*550/);
    smtp.refusal = undefined;
    await node.runtime.pool.query('update alert_sends set due_at = now() where due_at is not null');
    await send();
    assert.equal(smtp.mails.length, 2);
  });

  test('after a day a route gives up on an open alert', async () => {
    answer = { status: 500 };
    await settle([condition()]);
    await send();
    await node.runtime.pool.query(`update alerts set raised_at = now() - interval '2 days'`);
    await node.runtime.pool.query('update alert_sends set due_at = now()');
    await send();
    const { rows } = await node.runtime.pool.query('select from alert_sends where due_at is not null');
    assert.equal(rows.length, 0);
    await settle([condition()]);
    assert.equal(await send(), 0, 'and does not begin again');
  });

  test('a test alert shows whether a route works and leaves nothing open', async () => {
    const operator = await node.token('operator');
    const tried = await node.call('POST', '/alert-routes/pager/test', operator, {});
    assert.deepEqual(tried.body, { sent: true, failure: null });
    assert.deepEqual(
      by('pagerduty').map(({ body }) => body.event_action),
      ['trigger', 'resolve'],
    );
    assert.equal(by('pagerduty')[0]?.body.dedup_key, by('pagerduty')[1]?.body.dedup_key);
    answer = { status: 403 };
    assert.deepEqual((await node.call('POST', '/alert-routes/chat/test', operator, {})).body, {
      sent: false,
      failure: 'slack answered 403.',
    });
    assert.equal((await node.call('POST', '/alert-routes/none/test', operator, {})).status, 404);
    assert.equal((await node.call('POST', '/alert-routes/chat/test', await node.token('viewer'), {})).status, 403);
    answer = undefined;
    const { env } = node;
    const workspace = node.runtime.workspaceDir;
    const all = await innbound(['alert', 'test', '--json', '--workspace', workspace], { env });
    assert.equal(all.code, 0, all.stderr);
    assert.deepEqual(
      all.json().map(({ route, sent }) => [route, sent]),
      [
        ['chat', true],
        ['team', true],
        ['pager', true],
        ['genie', true],
        ['hook', true],
        ['post', true],
      ],
    );
    const listed = await innbound(['alert', 'routes', '--workspace', workspace], { env });
    assert.match(listed.stdout, /pager\s+pagerduty\s+critical/);
  });

  test('no key, password or webhook address is shown or stored in plain text', async () => {
    const { body } = await node.call('GET', '/alert-routes', await node.token('viewer'));
    const { rows } = await node.runtime.pool.query<{ text: string }>(
      `select string_agg(d::text, ' ') as text from documents d where kind = 'workspace'`,
    );
    for (const text of [JSON.stringify(body), rows[0]?.text ?? '']) {
      for (const secret of ['secret-of-slack', 'R'.repeat(32), 'opsgenie-key-1', 'mail-password-1']) {
        assert.ok(!text.includes(secret), secret);
      }
    }
  });

  test('mail does not reach private addresses unless allowed', async () => {
    const { runtime } = node;
    const { testAlertRoute } = await import('../../../src/operator/operations/alert-routes.ts');
    const { systemClock } = await import('../../../src/kit/clock.ts');
    const sent = await testAlertRoute({ ...runtime, allowPrivate: false }, 'post', systemClock);
    assert.deepEqual(sent, {
      kind: 'failed',
      message: 'The SMTP server localhost did not accept the mail: INNBOUND_BLOCKED_ADDRESS.',
    });
    assert.equal(smtp.mails.length, 0);
  });
});
