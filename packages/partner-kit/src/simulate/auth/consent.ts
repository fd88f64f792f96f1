import { escapeHtml } from '../../html.ts';
import type { Answer } from '../exchange.ts';

/** The consent page: returns every parameter unchanged, with the decision. */
export function consentPage(asked: URLSearchParams): Answer {
  const fields = [...asked].map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Allow access</title>
<body style="font:16px system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem">
<h1>Allow access to reservations?</h1>
<p><b>${escapeHtml(asked.get('client_id') ?? '')}</b> asks to read the reservations of this simulated hotel${scope(asked.get('scope'))}.</p>
<form method="post" action="/oauth/authorize">${fields.join('')}
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></form>
</body></html>`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  };
  return { status: 200, headers, body };
}

function scope(text: string | null): string {
  return text === null || text === '' ? '' : ` (${escapeHtml(text)})`;
}
