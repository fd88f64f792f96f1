import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mailWeekly } from '../../src/operator/operations/hotel-report.ts';
import { type ApiNode, apiNode, asked, countPage, reservation } from '../api/node.ts';
import { smtpServer } from '../watch/routes/smtp-server.ts';

let node: ApiNode;
let smtp: Awaited<ReturnType<typeof smtpServer>>;
before(async () => {
  smtp = await smtpServer();
  const mail = `type: email, host: 127.0.0.1, port: ${smtp.port}, security: none, from: innbound@group.example`;
  node = await apiNode(`public_url: https://innbound.group.example
alerts:
  routes:
    manager: { ${mail}, to: [manager@grand.example], integrations: [grand], severities: [], weekly: true }
    desk: { ${mail}, to: [desk@group.example] }
`);
});
after(async () => {
  await node.stop();
  smtp.close();
});

test('on Monday morning the manager gets the figures of the hotel, once; no guest is named', async () => {
  const today = new Date();
  const day = (days: number) => new Date(today.getTime() + days * 86_400_000).toISOString().slice(0, 10);
  // Within the week that the mail shows, also when the hotel's day begins or ends meanwhile.
  const rooms = [{ room_number: '1', start_date: day(2), end_date: day(5), adults: 2 }];
  await node.take('grand', reservation('W1', { check_in: day(2), check_out: day(5), rooms }));
  await asked(node, 'grand', day(-30), day(120));
  await countPage(node, 'grand');
  await mailWeekly(node.runtime, Date.parse('2026-11-15T12:00:00Z'));
  await mailWeekly(node.runtime, Date.parse('2026-11-16T03:00:00Z'));
  assert.equal(smtp.mails.length, 0, 'on Sunday, and before Monday’s morning, nothing is sent');
  await mailWeekly(node.runtime, Date.parse('2026-11-16T07:00:00Z'));
  await mailWeekly(node.runtime, Date.parse('2026-11-16T07:10:00Z'));
  assert.deepEqual(
    smtp.mails.map(({ to }) => to),
    [['manager@grand.example']],
  );
  const { text = '' } = smtp.mails[0] ?? {};
  assert.match(text, /Subject: \[Innbound\] grand: the week from 20/);
  assert.equal(text.match(/^20\d\d-\d\d-\d\d: 1 room,/gm)?.length, 3, text);
  assert.equal(text.match(/^20\d\d-\d\d-\d\d: /gm)?.length, 7);
  assert.match(text, /https:\/\/innbound\.group\.example\/hotels\/grand/);
  assert.doesNotMatch(text, /Ana|Prado|W1/);
});

const monday = Date.parse('2026-11-16T07:00:00Z');
const forget = () => node.runtime.pool.query(`delete from marks where name like 'weekly %'`);
const later = () =>
  node.runtime.pool.query(`update marks set at = at - interval '16 minutes' where name like 'weekly %'`);

test('a mail that the server refuses is sent later', async () => {
  await forget();
  smtp.refusal = 550;
  await mailWeekly(node.runtime, monday);
  smtp.refusal = undefined;
  const before = smtp.mails.length;
  await later();
  await mailWeekly(node.runtime, monday);
  assert.equal(smtp.mails.length, before + 1);
});

// The claim lasted a week, whatever became of the node.
test('a node that ends between its claim and the mail loses no mail', async () => {
  await forget();
  const before = smtp.mails.length;
  const ended = { ...node.runtime, resolve: () => Promise.reject(new Error('the node ends here')) };
  await assert.rejects(mailWeekly(ended, monday), /the node ends here/);
  await mailWeekly(node.runtime, monday);
  assert.equal(smtp.mails.length, before, 'it may still be under way');
  await later();
  await mailWeekly(node.runtime, monday);
  await later();
  await mailWeekly(node.runtime, monday);
  assert.equal(smtp.mails.length, before + 1);
});

test('of two nodes one sends the mail', async () => {
  await forget();
  const before = smtp.mails.length;
  await Promise.all([mailWeekly(node.runtime, monday), mailWeekly(node.runtime, monday)]);
  assert.equal(smtp.mails.length, before + 1);
});
