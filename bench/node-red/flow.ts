/** The benchmark's job as a Node-RED flow. */
export interface FlowJob {
  readonly endpointId: string;
  readonly secret: string;
  readonly sinkPort: number;
  readonly partnerPort: number;
  readonly from: string;
  readonly to: string;
}

/** As Innbound verifies by default: SHA-512 over timestamp and body, no older than five minutes. */
const verify = (secret: string) => `
const crypto = global.get('crypto');
const at = msg.req.headers['x-webhook-timestamp'];
const shown = Buffer.from(String(msg.req.headers['x-webhook-signature']));
const made = crypto.createHmac('sha512', ${JSON.stringify(secret)}).update(at + '.').update(msg.payload).digest('hex');
const wanted = Buffer.from('sha512=' + made);
const isFresh = Math.abs(Date.now() / 1000 - Number(at)) < 300;
if (!isFresh || shown.length !== wanted.length || !crypto.timingSafeEqual(shown, wanted)) {
  msg.statusCode = 401;
  msg.payload = '';
  return [msg, null];
}
const event = JSON.parse(msg.payload);
const answer = { _msgid: msg._msgid, req: msg.req, res: msg.res, statusCode: 202, payload: { event_id: event.event_id } };
return [answer, { payload: event.data }];`;

/** A simple cleaning by regular expressions; Innbound also checks phone numbers by country, dates and amounts. */
const clean = `
const cased = (text) => text.trim().toLowerCase().replace(/(^|[\\s'-])\\S/g, (part) => part.toUpperCase());
const cleaned = (record) => ({
  ...record,
  id: record.id ?? record.reservation_id,
  status: String(record.status).toLowerCase(),
  guests: record.guests.map((guest) => ({
    ...guest,
    first_name: cased(guest.first_name),
    last_name: cased(guest.last_name),
    email: guest.email?.trim().toLowerCase(),
    phone: guest.phone?.replace(/[^+\\d]/g, ''),
    nationality: guest.nationality?.toUpperCase(),
  })),
});
const envelope = (record) => ({ type: 'reservation', data: cleaned(record) });
msg.payload = Array.isArray(msg.payload) ? msg.payload.map(envelope) : envelope(msg.payload);
msg.headers = { 'content-type': 'application/json' };
return msg;`;

const page = `
const { reservations, next_cursor: cursor } = msg.payload;
const size = msg.size;
const out = [];
for (let i = 0; i < reservations.length; i += size) {
  out.push({ payload: size === 1 ? reservations[i] : reservations.slice(i, i + size) });
}
return [out, cursor === undefined ? null : { size, url: msg.first + '&cursor=' + cursor, first: msg.first }];`;

export function flowOf({ endpointId, secret, sinkPort, partnerPort, from, to }: FlowJob): object[] {
  const z = 'bench';
  const at = { x: 0, y: 0, z };
  const code = (id: string, func: string, wires: string[][]) => ({
    ...at,
    id,
    type: 'function',
    func,
    outputs: wires.length,
    wires,
  });
  const request = (id: string, method: string, ret: string, wires: string[][], url = '') => ({
    ...at,
    id,
    type: 'http request',
    method,
    ret,
    url,
    paytoqs: 'ignore',
    persist: true,
    headers: [],
    wires,
  });
  const first = `http://127.0.0.1:${partnerPort}/api/reservations?dateFrom=${from}&dateTo=${to}&limit=200`;
  return [
    { id: z, type: 'tab', label: 'bench' },
    {
      ...at,
      id: 'in',
      type: 'http in',
      url: `/webhooks/${endpointId}`,
      method: 'post',
      skipBodyParsing: true,
      wires: [['verify']],
    },
    code('verify', verify(secret), [['answer'], ['clean']]),
    { ...at, id: 'answer', type: 'http response', wires: [] },
    code('clean', clean, [['post']]),
    request('post', 'POST', 'txt', [[]], `http://127.0.0.1:${sinkPort}/changes`),
    { ...at, id: 'pull', type: 'http in', url: '/pull', method: 'post', wires: [['begin']] },
    code(
      'begin',
      `const first = ${JSON.stringify(first)};
msg.statusCode = 202;
return [{ ...msg, payload: {} }, { size: msg.payload.size, first, url: first }];`,
      [['answer'], ['get']],
    ),
    request('get', 'GET', 'obj', [['page']]),
    code('page', page, [['clean'], ['get']]),
  ];
}

/** Without editor, log lines and context storage: only what the flow needs. */
export const settings = `module.exports = {
  flowFile: 'flows.json',
  httpAdminRoot: false,
  uiHost: '127.0.0.1',
  functionGlobalContext: { crypto: require('node:crypto') },
  logging: { console: { level: 'warn', metrics: false, audit: false } },
};
`;
