/** A guess of the proposal that it calls unsure itself, as a question. */
export interface Question {
  /** Of the remark in the text, from 0. */
  readonly line: number;
  readonly key: string;
  readonly value: string;
  readonly reason: string;
}

/** Less sure guesses are asked about. */
const sureFrom = 0.7;
/** As the proposal writes it beside a value, or in the line above a longer one. */
const remark = /^(\s*)(.*?)\s*# (0\.\d\d) (.+)$/;

export function questionsIn(text: string): Question[] {
  const lines = text.split('\n');
  return lines.flatMap((written, line) => {
    const [, , beside = '', sure, reason = ''] = remark.exec(written) ?? [];
    if (sure === undefined || Number(sure) >= sureFrom) return [];
    const [head = '', ...below] = beside === '' ? lines.slice(line + 1) : [beside];
    const [key = '', value = ''] = head.trim().split(/:\s*/, 2);
    const depth = head.search(/\S/);
    const end = below.findIndex((one) => one.search(/\S/) <= depth);
    const inner = below.slice(0, end < 0 ? below.length : end).map((one) => one.trim());
    return [{ line, key, value: value || inner.join(', '), reason }];
  });
}

/** The text without the remark: the guess is right. */
export function answered(text: string, { line }: Question): string {
  const lines = text.split('\n');
  const [, indent = '', beside = ''] = remark.exec(lines[line] ?? '') ?? [];
  return lines.toSpliced(line, 1, ...(beside === '' ? [] : [indent + beside])).join('\n');
}
