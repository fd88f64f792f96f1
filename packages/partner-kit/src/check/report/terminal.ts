import type { Outcome, RuleResult } from '../rule.ts';
import type { Report, ShownRequest } from './report.ts';

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
  const verdict = report.passed
    ? paint('Every rule that could be tested holds.', 32)
    : fail > 0
      ? paint(`${fail} ${fail === 1 ? 'rule is' : 'rules are'} broken.`, 31)
      : 'Nothing could be tested.';
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
