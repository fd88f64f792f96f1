import type { Outcome, RuleResult } from '../rule.ts';
import type { Report, ShownRequest } from './report.ts';

const marks: Readonly<Record<Outcome, readonly [mark: string, colour: number]>> = {
  pass: ['pass  ', 32],
  fail: ['FAIL  ', 31],
  advice: ['advice', 33],
  skip: ['skip  ', 90],
};

/** What failed comes last, next to the prompt, with what to change; the rest is a line each. */
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
    ? paint('All that could be seen holds.', 32)
    : fail > 0
      ? paint(`${fail} ${fail === 1 ? 'rule does' : 'rules do'} not hold.`, 31)
      : 'Nothing could be seen.';
  lines.push(
    '',
    `${verdict} ${pass} passed, ${fail} failed, ${advice} advised, ${skip} could not be seen; ${report.requests.length} requests.`,
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

/** Status, type and the beginning of the body, on one line. */
function answer({ status, failure, content_type: type, excerpt }: ShownRequest): string {
  if (status === 0) return `none: ${failure ?? 'unknown failure'}`;
  const start = excerpt.replace(/\s+/g, ' ').slice(0, 160);
  return [String(status), type, start].filter((part) => part !== '').join(' ');
}
