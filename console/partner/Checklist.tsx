import type { Texts } from './texts/en.ts';
import { fill, phrase, useTexts } from './texts.ts';
import type { Check } from './types.ts';
import { fieldWords } from './words.ts';

const marks = { done: '✓', wrong: '✗', missing: '○' } as const;

/** What was shown, what is missing, and how to produce it. */
export function Checklist({ checks, isComplete }: { checks: readonly Check[]; isComplete: boolean }) {
  const { t } = useTexts();
  const open = checks.filter(({ state, isOptional }) => state !== 'done' && !isOptional).length;
  return (
    <>
      <p>{t.checks.lead}</p>
      <ul className="checks">
        {checks.map(({ id, state, seen, isOptional }) => {
          const [title = id, how = ''] = t.checks.item[id] ?? [];
          return (
            <li key={id} className={state}>
              <span className="mark" aria-hidden="true">
                {marks[state]}
              </span>
              <div>
                <strong>{title}</strong>{' '}
                <small>
                  {t.checks[state]}
                  {isOptional && ` · ${t.checks.optional}`}
                </small>
                {state !== 'done' && <p>{fill(how, inWords(state === 'missing' ? withoutZeros(seen) : seen, t))}</p>}
              </div>
            </li>
          );
        })}
      </ul>
      <p className="sum">
        <strong>{isComplete ? t.checks.complete : fill(t.checks.left, { count: open })}</strong>{' '}
        <button type="button" className="quiet no-print" onClick={() => window.print()}>
          {t.print}
        </button>
      </p>
    </>
  );
}

/** Neither the names of our fields nor our codes. */
function inWords(seen: Check['seen'], t: Texts): Check['seen'] {
  const { fields, code, ...rest } = seen;
  return {
    ...rest,
    ...(typeof fields === 'string' && {
      fields: fields
        .split(', ')
        .map((name) => fieldWords(name, t))
        .join(', '),
    }),
    ...(typeof code === 'string' && { code: phrase(t, code, '') }),
  };
}

/** A count of nothing says no more than that nothing was seen. */
const withoutZeros = (seen: Check['seen']): Check['seen'] =>
  Object.fromEntries(Object.entries(seen).filter(([, value]) => value !== 0));
