/** The onboarding link that this page was opened with, and the calls that it allows. */
export type Closed = 'unknown' | 'expired' | 'revoked' | 'elsewhere' | 'busy';

/** The link has ended: the page shows why, and nothing else. */
export class LinkClosed extends Error {
  readonly why: Closed;
  constructor(why: Closed) {
    super(why);
    this.why = why;
  }
}

/** The service did not do what was asked; the message is in English. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const [, , linkId = ''] = location.pathname.split('/');
const base = `/api/v1/onboarding/${encodeURIComponent(linkId)}`;

/** Kept until it was used: our side may be down. */
let token: string | undefined;

/** Takes the token out of the address, so that neither the history nor a screenshot has it, and binds the link to this browser. */
export async function openLink(): Promise<void> {
  // A short one is a step of the page.
  if (location.hash.length > 40) {
    token = location.hash.slice(1);
    history.replaceState(null, '', location.pathname);
  }
  if (token !== undefined) await call('POST', '/open', { token });
  token = undefined;
}

/** What the address says about a consent that the person comes back from; it is taken out of it. */
export function takeAccess(): string | null {
  const access = new URLSearchParams(location.search).get('access');
  if (access !== null) history.replaceState(null, '', location.pathname);
  return access;
}

export async function call<Answer>(method: 'GET' | 'POST', at: string, body?: object): Promise<Answer> {
  const response = await fetch(base + at, {
    method,
    credentials: 'same-origin',
    ...(method !== 'GET' && {
      headers: { 'content-type': 'application/json', 'x-innbound-console': 'partner' },
      body: JSON.stringify(body ?? {}),
    }),
  });
  const answer = (await response.json().catch(() => ({}))) as { code?: string; detail?: string };
  if (response.ok) return answer as Answer;
  // Our database or our proxy: nothing that was asked for was wrong.
  if (response.status >= 500) throw new Error(`status ${response.status}`);
  if (response.status === 401) throw new LinkClosed('unknown');
  if (answer.code === 'operate.link_elsewhere') throw new LinkClosed('elsewhere');
  if (answer.code === 'operate.link_ended')
    throw new LinkClosed(answer.detail?.includes('revoked') ? 'revoked' : 'expired');
  if (answer.code === 'operate.too_many_failures') throw new LinkClosed('busy');
  throw new Refused(answer.code ?? '', answer.detail ?? `status ${response.status}`);
}
