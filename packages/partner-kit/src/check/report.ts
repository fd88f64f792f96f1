import { escapeHtml } from '../escape.ts';
import type { Seen } from './client.ts';
import type { Outcome, RuleResult } from './rule.ts';

/** A request as the report shows it, without credentials or guest data. */
interface ShownRequest
  extends Pick<Seen, 'number' | 'purpose' | 'method' | 'url' | 'headers' | 'status' | 'ms' | 'excerpt'> {
  readonly failure?: string;
  readonly content_type: string;
}

export interface Report {
  readonly kind: 'api' | 'sender';
  readonly target: string;
  readonly checked_at: string;
  /** passed: nothing failed. Advice does not count. */
  readonly passed: boolean;
  readonly summary: Readonly<Record<Outcome, number>>;
  readonly rules: readonly RuleResult[];
  readonly requests: readonly ShownRequest[];
}

type SeenRequest = Omit<ShownRequest, 'failure' | 'content_type'> &
  Pick<Seen, 'contentType'> &
  Partial<Pick<Seen, 'failure'>>;

export function reportOf(
  kind: Report['kind'],
  target: string,
  checkedAt: number,
  rules: readonly RuleResult[],
  seen: readonly SeenRequest[],
): Report {
  const summary: Record<Outcome, number> = { pass: 0, fail: 0, advice: 0, skip: 0 };
  for (const { outcome } of rules) summary[outcome] += 1;
  return {
    kind,
    target,
    checked_at: new Date(checkedAt).toISOString(),
    passed: summary.fail === 0 && summary.pass > 0,
    summary,
    rules,
    requests: seen.map(({ number, purpose, method, url, headers, status, failure, ms, contentType, excerpt }) => ({
      number,
      purpose,
      method,
      url,
      headers,
      status,
      ...(failure !== undefined && { failure }),
      ms,
      content_type: contentType,
      excerpt,
    })),
  };
}

function verdictOf({ passed, summary: { fail } }: Report): string {
  if (passed) return 'Every rule that could be tested holds.';
  return fail > 0 ? `${fail} ${fail === 1 ? 'rule is' : 'rules are'} broken.` : 'Nothing could be tested.';
}

const marks: Readonly<Record<Outcome, readonly [mark: string, colour: number]>> = {
  pass: ['pass  ', 32],
  fail: ['FAIL  ', 31],
  advice: ['advice', 33],
  skip: ['skip  ', 90],
};

/** Failures come last, next to the prompt, with what to change; other rules take one line each. */
export function terminalReport(report: Report, colour: boolean): string {
  const paint = (text: string, code: number) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const wide = Math.max(...report.rules.map(({ id }) => id.length));
  const line = ({ id, outcome, seen, title }: RuleResult) => {
    const [mark, code] = marks[outcome];
    return `${paint(mark, code)}  ${id.padEnd(wide)}  ${title}${outcome === 'pass' ? '' : `: ${seen}`}`;
  };
  const lines = report.rules.map(line);
  for (const outcome of ['advice', 'fail'] as const) {
    for (const rule of report.rules.filter((one) => one.outcome === outcome))
      lines.push('', ...finding(rule, report, paint));
  }
  const { pass, fail, advice, skip } = report.summary;
  const verdict = pass + fail === 0 ? verdictOf(report) : paint(verdictOf(report), fail > 0 ? 31 : 32);
  lines.push(
    '',
    `${verdict} ${pass} passed, ${fail} failed, ${advice} advised, ${skip} skipped; ${report.requests.length} requests.`,
  );
  return lines.join('\n');
}

function finding(rule: RuleResult, report: Report, paint: (text: string, code: number) => string): string[] {
  const request = report.requests.find(({ number }) => number === rule.request);
  const [mark, code] = marks[rule.outcome];
  return [
    `${paint(mark.trim(), code)} ${rule.id}: ${rule.title}`,
    `  seen     ${rule.seen}`,
    ...(request === undefined ? [] : [`  request  ${request.method} ${request.url}`, `  answer   ${answer(request)}`]),
    ...(rule.change === undefined ? [] : [`  change   ${rule.change}`]),
  ];
}

/** Status, type and the start of the body, on one line. */
function answer({ status, failure, content_type: type, excerpt }: ShownRequest): string {
  if (status === 0) return `none: ${failure ?? 'unknown failure'}`;
  const start = excerpt.replace(/\s+/g, ' ').slice(0, 160);
  return [String(status), type, start].filter((part) => part !== '').join(' ');
}

const names: Readonly<Record<Outcome, string>> = {
  fail: 'Broken',
  advice: 'Advised',
  pass: 'Holds',
  skip: 'Not seen',
};

/** One self-contained file for the partner, without guest data or secrets. */
export function htmlReport(report: Report): string {
  const what = report.kind === 'api' ? 'Reservation API' : 'Webhook sender';
  const verdict = verdictOf(report);
  const order: readonly Outcome[] = ['fail', 'advice', 'pass', 'skip'];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${what}: ${escapeHtml(verdict)}</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#d8dce2, #3a3f47); --dim: light-dark(#5a626d, #a3abb6); --soft: light-dark(#f5f6f8, #22262c); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.dim { color: var(--dim); } code, pre { font: .875em ui-monospace, monospace; } pre { background: var(--soft); padding: .75rem; overflow: auto; max-height: 24rem; }
article { border: 1px solid var(--line); border-left-width: 5px; border-radius: 6px; padding: .6rem .9rem; margin: .5rem 0; } article p { margin: .2rem 0; }
.fail { border-left-color: light-dark(#c2281d, #ff7a6e); } .advice { border-left-color: light-dark(#b7791f, #f0b44c); } .pass { border-left-color: light-dark(#1a7f46, #5fcf90); } .skip { border-left-color: var(--line); }
summary { cursor: pointer; }
@media print { details { display: none; } }
</style>
</head>
<body>
<h1>${escapeHtml(verdict)}</h1>
<p class="dim">${what} <code>${escapeHtml(report.target)}</code>, checked ${escapeHtml(report.checked_at)}, ${report.requests.length} requests:
${report.summary.pass} rules hold, ${report.summary.fail} broken, ${report.summary.advice} with advice, ${report.summary.skip} skipped. Guests' values are shown by their form only: letters as a, digits as 9.</p>
${order.map((outcome) => section(outcome, report)).join('\n')}
<h2>Requests</h2>
${report.requests.map(requestHtml).join('\n')}
</body>
</html>
`;
}

function section(outcome: Outcome, report: Report): string {
  const rules = report.rules.filter((rule) => rule.outcome === outcome);
  if (rules.length === 0) return '';
  return `<h2>${names[outcome]} (${rules.length})</h2>\n${rules.map(ruleHtml).join('\n')}`;
}

function ruleHtml(rule: RuleResult): string {
  const request = rule.request === undefined ? '' : ` <a href="#request-${rule.request}">Request ${rule.request}</a>.`;
  const change = rule.change === undefined ? '' : `<p><b>To change:</b> ${escapeHtml(rule.change)}</p>`;
  return `<article class="${rule.outcome}"><p><b>${escapeHtml(rule.title)}</b> <code class="dim">${escapeHtml(rule.id)}</code></p>
<p>${escapeHtml(rule.seen)}${request}</p>${change}</article>`;
}

function requestHtml(request: ShownRequest): string {
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  const status = request.status === 0 ? `no answer: ${request.failure ?? ''}` : String(request.status);
  return `<details id="request-${request.number}"><summary>${request.number}. ${escapeHtml(request.purpose)}: <code>${escapeHtml(`${request.method} ${request.url}`)}</code>, ${escapeHtml(status)}</summary>
<pre>${escapeHtml(headers.join('\n'))}</pre><pre>${escapeHtml(request.excerpt)}</pre></details>`;
}
