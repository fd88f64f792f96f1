import { plural } from './format.ts';
import { lineDiff, parts } from './lines.ts';

const signs = { same: ' ', gone: '−', new: '+' } as const;

/** A credential that was typed into a document is stored sealed; the difference does not show it either. */
const masked = (line: string): string =>
  /\$\{/.test(line)
    ? line
    : line.replace(
        /((?:token|key|password|secret|client_secret|authorization)["']?\s*:\s*)([^\s{[,}#][^,}]*)/i,
        '$1••••••',
      );

/** The changed lines of a text with their surroundings. */
export function LineDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const blocks = parts(lineDiff(before, after));
  if (blocks.length === 0) return <p className="muted">The texts are identical.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label={label} className="scrolls">
      <div className="line-diff">
        {blocks.map(({ skipped, lines }) => (
          <div key={`${lines[0]?.kind} ${lines[0]?.at}`}>
            {skipped > 0 && <p className="skipped">{plural(skipped, 'unchanged line')}</p>}
            {lines.map(({ kind, text, at }) => (
              <div key={`${kind} ${at}`} data-kind={kind}>
                <span aria-hidden="true">{at}</span>
                <span>{signs[kind]}</span>
                <code>{masked(text)}</code>
              </div>
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}
