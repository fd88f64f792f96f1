import type { Texts } from './texts/en.ts';
import { fill, phrase } from './texts.ts';
import type { Arrived } from './types.ts';

export interface Verdict {
  readonly tone: 'good' | 'bad' | 'calm';
  readonly headline: string;
  /** One sentence; empty if nothing must change. */
  readonly fix: string;
  /** The service's own words, in English, where they say more than the fix. */
  readonly words?: string;
  /** Each part in the order in which it is checked; undefined if the check was not reached. */
  readonly parts: readonly { readonly name: string; readonly isRight: boolean | undefined }[];
}

/** What a request did wrong, and how to repair it. */
export function verdictOn(request: Arrived, t: Texts): Verdict {
  const { signature, problems, outcome } = request;
  const isSigned = signature === null ? undefined : signature.right;
  const hasEnvelope = signature === null ? false : problems.length === 0;
  const isUnderstood = ['record', 'fetched_first', 'ignored'].includes(outcome.kind);
  const parts = [
    { name: t.verdict.signature, isRight: isSigned },
    { name: t.verdict.envelope, isRight: hasEnvelope },
    { name: t.verdict.mapping, isRight: hasEnvelope ? isUnderstood : undefined },
  ];
  return { ...judge(request, t), parts };
}

function judge({ signature, problems, outcome, status, code }: Arrived, t: Texts): Omit<Verdict, 'parts'> {
  const { verdict } = t;
  const bad = (headline: string, fix: string, words = '') => ({ tone: 'bad', headline, fix, words }) as const;
  const good = (headline: string, fix = '') => ({ tone: 'good', headline, fix }) as const;
  const details = problems.map(({ pointer, detail }) => [pointer, detail].filter(Boolean).join(': ')).join(' ');
  if (signature === null) {
    const fix = code === 'push.wrong_media_type' ? verdict.fix.content_type : phrase(t, code, details);
    return bad(verdict.refused, fix);
  }
  if (!signature.right) return bad(verdict[signature.part ?? 'secret'], signatureFix(signature, t));
  if (problems.length > 0) {
    const fields = problems.flatMap(({ pointer }) => (pointer === '' ? [] : [pointer.slice(1)])).join(', ');
    const fix = fields === '' ? phrase(t, code, details) : fill(verdict.fix.envelope, { fields, details });
    return bad(verdict.envelopeWrong, fix, details);
  }
  if (status === 500) return { tone: 'calm', headline: verdict.deliberate, fix: '' };
  switch (outcome.kind) {
    case 'record':
      return good(status === 200 ? verdict.duplicate : verdict.accepted);
    case 'fetched_first':
      return good(verdict.fetched);
    case 'ignored':
      return { tone: 'calm', headline: verdict.ignored, fix: '' };
    default:
      return bad(verdict.noRecord, phrase(t, outcome.code, outcome.reason ?? ''), outcome.reason);
  }
}

function signatureFix({ reason = '', part = 'secret', skew_s }: NonNullable<Arrived['signature']>, t: Texts): string {
  const { fix } = t.verdict;
  const byReason = (fix as Readonly<Record<string, string>>)[reason];
  const byPart = (fix as Readonly<Record<string, string>>)[part];
  // What is wrong in particular is more than that something is.
  const text = part === 'time' || part === 'missing' ? byReason : byPart;
  return fill(text ?? byReason ?? '', { seconds: skew_s === undefined ? undefined : Math.abs(skew_s) });
}
