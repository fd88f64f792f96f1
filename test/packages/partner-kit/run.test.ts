import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runApiCheck, runSenderCheck } from '../../../packages/partner-kit/src/check/run.ts';
import { readEvents, runSend } from '../../../packages/partner-kit/src/cli/send.ts';
import { runSimulate, sampleAuth, startSimulator } from '../../../packages/partner-kit/src/simulate/index.ts';
import type { Io } from '../../../packages/partner-kit/src/terminal.ts';
import { WebhookSender } from '../../../packages/sender/src/index.ts';
import { startReceiver } from './receiver.ts';

const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

async function folder() {
  const made = await mkdtemp(join(tmpdir(), 'partner-'));
  ends.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** A terminal that records its output; `end` is the user's Ctrl-C. */
function terminal() {
  const stopped = Promise.withResolvers<void>();
  const heard: { out: string[]; said: string[]; progress: string[] } = { out: [], said: [], progress: [] };
  const waiting: (() => void)[] = [];
  const io: Io = {
    out: (text) => {
      heard.out.push(text);
      for (const wake of waiting) wake();
    },
    say: (text) => heard.said.push(text),
    progress: (text) => heard.progress.push(text),
    colour: false,
    ended: () => stopped.promise,
  };
  return {
    io,
    heard,
    end: () => stopped.resolve(),
    firstLine: () => new Promise<string>((resolve) => waiting.push(() => resolve(heard.out[0] ?? ''))),
  };
}

test('simulate prints its address and credentials, and stops with Ctrl-C', async () => {
  const { io, firstLine, end } = terminal();
  const line = firstLine();
  const running = runSimulate({ reservations: 20, auth: sampleAuth.bearer }, true, io);
  const { base_url, auth, today } = JSON.parse(await line) as {
    base_url: string;
    auth: { token: string };
    today: string;
  };
  const list = `${base_url}/api/reservations?dateFrom=${today}&dateTo=${today}`;
  assert.equal((await fetch(list, { headers: { authorization: `Bearer ${auth.token}` } })).status, 200);
  end();
  assert.equal(await running, 0);
  await assert.rejects(fetch(list));
});

test('simulate describes each authentication method', async () => {
  for (const auth of Object.values(sampleAuth)) {
    const { io, firstLine, end } = terminal();
    const line = firstLine();
    const running = runSimulate({ reservations: 1, auth }, false, io);
    assert.match(await line, /Auth {3}\S/);
    end();
    await running;
  }
});

test('check reports to terminal, JSON and HTML; its exit code follows the must rules', async () => {
  const good = await startSimulator({ reservations: 80, untidy: 0 });
  const bad = await startSimulator({
    reservations: 80,
    untidy: 0,
    faults: [{ kind: 'accepts_missing_dates' }, { kind: 'phone_local' }],
  });
  ends.push(
    () => good.stop(),
    () => bad.stop(),
  );
  const today = good.hotel.today('LIS01');
  const options = { auth: { type: 'none' }, from: today, to: today, intervalMs: 0 } as const;
  const html = join(await folder(), 'report.html');

  const first = terminal();
  assert.equal(await runApiCheck({ ...options, baseUrl: good.baseUrl }, { json: false }, first.io), 0);
  assert.match(first.heard.out[0] ?? '', /Every rule that could be tested holds/);
  assert.ok(first.heard.progress.length > 10);

  const second = terminal();
  assert.equal(await runApiCheck({ ...options, baseUrl: bad.baseUrl }, { json: false, html }, second.io), 1);
  const text = second.heard.out[0] ?? '';
  assert.match(
    text,
    /FAIL list\.missing_dates[\s\S]+seen +Status 200 for a list without dateFrom[\s\S]+request +GET http[\s\S]+answer +200 application\/json[\s\S]+change +Answer 400/,
  );
  assert.match(text, /advice guests\.phone/);
  assert.match(text, /1 rule is broken/);
  const page = await readFile(html, 'utf8');
  assert.match(page, /Broken \(1\)/);
  assert.doesNotMatch(page, /@(mail|post|inbox|letters|webpost|brevmail)\.example/);

  const third = terminal();
  await runApiCheck({ ...options, baseUrl: bad.baseUrl }, { json: true }, third.io);
  assert.equal((JSON.parse(third.heard.out[0] ?? '') as { passed: boolean }).passed, false);
});

test('the HTML report is safe whatever the partner answers', async () => {
  const simulator = await startSimulator({ reservations: 10 });
  ends.push(() => simulator.stop());
  const html = join(await folder(), 'report.html');
  const { io } = terminal();
  const hostile = async () =>
    new Response('{"<script>alert(1)</script>": "<img src=x onerror=alert(1)>"}', {
      status: 200,
      headers: { 'content-type': '<script>alert(1)</script>' },
    });
  await runApiCheck(
    {
      baseUrl: simulator.baseUrl,
      auth: { type: 'none' },
      from: '2026-06-15',
      to: '2026-06-15',
      intervalMs: 0,
      fetch: hostile,
    },
    { json: false, html },
    io,
  );
  assert.doesNotMatch(await readFile(html, 'utf8'), /<script|<img/);
});

test('the sender check says where to send, and reports when the user stops it', async () => {
  const { io, heard, firstLine, end } = terminal();
  const line = firstLine();
  const running = runSenderCheck({}, { json: true }, io);
  const { url, secret } = JSON.parse(await line) as { url: string; secret: string };
  const sender = await WebhookSender.open({ url, secret, brandId: 'X' });
  await sender.send({ event: 'guest.updated', data: { guest_id: 'G1', email: 'a@mail.example' } });
  await sender.close();
  end();
  assert.equal(await running, 0);
  assert.equal((JSON.parse(heard.out[1] ?? '') as { passed: boolean }).passed, true);
});

test('send sends, lists dead letters, replays and drops them', async () => {
  let status = 400;
  const receiver = await startReceiver('s3cret of 24 characters!', () => ({ status }));
  ends.push(receiver.stop);
  const options = {
    url: receiver.url,
    secret: 's3cret of 24 characters!',
    brandId: 'LIS01',
    folder: await folder(),
    wait: async () => undefined,
  };
  const events = readEvents(
    '{"event":"reservation.updated","data":{"reservation_id":"R1","total_amount":12345678901234567890.10}}\n{"event":"guest.updated","event_id":"e2","data":{"guest_id":"G1"}}',
  );
  assert.ok(!('wrong' in events));
  const first = terminal();
  assert.equal(await runSend(options, { kind: 'send', events }, false, first.io), 1);
  assert.match(first.heard.out.join('\n'), /dead after 5 attempts: The endpoint answered 400/);
  assert.match(first.heard.said.join('\n'), /Next attempt in/);
  assert.ok(
    receiver.received.some(({ body }) => body.includes('12345678901234567890.10')),
    'digits are unchanged',
  );

  const second = terminal();
  assert.equal(await runSend({ ...options, url: '', secret: '' }, { kind: 'list' }, true, second.io), 0);
  const letters = second.heard.out.map((text) => JSON.parse(text) as { id: string; event_id: string });
  assert.equal(letters.length, 2);
  status = 202;
  const third = terminal();
  const guest = letters.find(({ event_id }) => event_id === 'e2')?.id ?? '';
  assert.equal(await runSend(options, { kind: 'drop', id: guest }, false, third.io), 0);
  assert.equal(await runSend(options, { kind: 'drop', id: guest }, false, third.io), 1);
  assert.equal(await runSend(options, { kind: 'replay', ids: ['unknown'] }, false, third.io), 1);
  assert.equal(await runSend(options, { kind: 'replay', ids: 'all' }, false, third.io), 0);
  assert.match(third.heard.out.at(-1) ?? '', /accepted \(202, attempt 1\)/);
});

test('events are read from an object, an array or lines; mistakes are reported without the content', () => {
  const one = '{"event":"a","data":{}}';
  assert.equal((readEvents(one) as []).length, 1);
  assert.equal((readEvents(`[${one},${one}]`) as []).length, 2);
  assert.equal((readEvents(`${one}\n\n${one}\n`) as []).length, 2);
  for (const wrong of ['', '{', '[]', '3', '{"data":{}}', '{"event":"a","data":[]}', `${one}\n{"event": "Zdenka`]) {
    const read = readEvents(wrong);
    assert.ok('wrong' in read, wrong);
    assert.doesNotMatch(read.wrong, /Zdenka/);
  }
});
