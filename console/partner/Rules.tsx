import { useTexts } from './texts.ts';
import type { Pull, Rule } from './types.ts';

/** What the check of the API says, rule by rule: what was asked, what came, what to change. */
export function Rules({ check, isTesting }: { check: NonNullable<Pull['check']>; isTesting: boolean }) {
  const { t } = useTexts();
  if (check.rules === undefined) return isTesting ? null : <p>{t.pull.unchecked}</p>;
  const passed = check.rules.filter(({ outcome }) => outcome === 'pass');
  return (
    <>
      <h3>{t.pull.rules}</h3>
      <Verdicts rules={check.rules.filter((rule) => !passed.includes(rule))} />
      <details>
        <summary>
          {t.pull.kept} ({passed.length})
        </summary>
        <Verdicts rules={passed} />
      </details>
    </>
  );
}

function Verdicts({ rules }: { rules: readonly Rule[] }) {
  if (rules.length === 0) return null;
  return (
    <ul className="checks rules">
      {rules.map((rule) => (
        <Verdict key={rule.id} rule={rule} />
      ))}
    </ul>
  );
}

const marks = { pass: ['done', '✓'], fail: ['wrong', '✗'], advice: ['missing', '○'] } as const;

function Verdict({ rule: { id, outcome, title, seen, change, asked, status } }: { rule: Rule }) {
  const { t } = useTexts();
  const [state, mark] = marks[outcome];
  const [ownTitle = title, ownChange = change] = t.codes.rules[id] ?? [];
  return (
    <li className={state}>
      <span className="mark" aria-hidden="true">
        {mark}
      </span>
      <div>
        <strong>{ownTitle}</strong>
        {change !== undefined && <p>{ownChange}</p>}
        {asked !== undefined && outcome !== 'pass' && (
          <p>
            <code>
              {asked} → {status === 0 ? t.pull.noAnswer : status}
            </code>
          </p>
        )}
        <small lang="en">{seen}</small>
      </div>
    </li>
  );
}
