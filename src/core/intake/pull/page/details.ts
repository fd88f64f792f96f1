import type { ErrorCode } from '../../../../errors.ts';
import { chunksOf } from '../../../../kit/chunks.ts';
import { shortHash } from '../../../../kit/short-hash.ts';
import type { Asker } from '../../../outbound/ask/asking.ts';
import type { NoAnswer } from '../../../outbound/ask/ports.ts';
import type { PullPlan } from '../ports.ts';
import { askSingle } from '../request/single.ts';
import type { Row } from './page.ts';
import { chunksAtOnce, type RelatedOptions } from './related.ts';

export interface Detailed {
  readonly kind: 'rows';
  readonly rows: readonly Row[];
  /** The partner's ids of listed reservations that it does not have any more. */
  readonly missing: readonly string[];
}

/** Failures that concern one reservation: its row is mapped as it is, which makes a dead letter of it. */
const ofOneRow: ReadonlySet<ErrorCode> = new Set(['pull.bad_request', 'pull.refused', 'pull.wrong_shape']);

/** Replaces each row by the partner's answer for its id. A partner that does not answer ends the page, which is then read again. */
export async function withDetails(
  asker: Asker,
  plan: PullPlan,
  rows: readonly Row[],
  options: RelatedOptions,
): Promise<Detailed | NoAnswer> {
  const detailed: Row[] = [];
  const missing: string[] = [];
  for (const some of chunksOf(rows, chunksAtOnce(plan.settings))) {
    const answers = await Promise.all(
      some.map(async (row) => ({
        row,
        answer: row.raw.key === '' ? undefined : await askSingle(asker, plan, row.raw.key, options),
      })),
    );
    for (const { row, answer } of answers) {
      if (answer?.kind === 'found') {
        const { record } = answer;
        detailed.push({ ...row, content: shortHash(JSON.stringify(record.value)), raw: record });
      } else if (answer?.kind === 'absent') missing.push(row.raw.key);
      else if (answer === undefined || answer.kind === 'other') detailed.push(row);
      else if (answer.kind === 'failed' && ofOneRow.has(answer.code)) detailed.push(row);
      else return answer;
    }
  }
  return { kind: 'rows', rows: detailed, missing };
}
