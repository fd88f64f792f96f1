import { type KeyboardEvent, useEffect, useRef } from 'react';
import { pathText } from '../../../../src/core/json-path/path.ts';
import type { Json } from '../../api/types.ts';

interface Line {
  readonly depth: number;
  readonly key: string | undefined;
  readonly text: string;
  /** Set for a value; brackets have none. */
  readonly path: string | undefined;
  readonly kind: 's' | 'n' | 'b';
  readonly comma: boolean;
}

/**
 * JSON with a button for each value. Arrow keys move between the values, so that the whole text is one stop for the Tab key.
 */
export function LinkedJson(props: {
  readonly value: Json;
  readonly label: string;
  /** Paths to highlight; the first is scrolled into view when `scrolls` is set. */
  readonly lit: readonly string[];
  readonly scrolls: boolean;
  readonly describe: (path: string) => { readonly words: string; readonly isLoose: boolean };
  readonly onHover: (path: string | undefined) => void;
  readonly onPick: (path: string) => void;
}) {
  const place = useRef<HTMLElement>(null);
  const lines = [...linesOf(props.value, '', { key: undefined, depth: 0, comma: false })];
  const [first] = props.lit;
  useEffect(() => {
    if (!props.scrolls || first === undefined) return;
    const target = place.current?.querySelector<HTMLElement>(`[data-path=${JSON.stringify(first)}]`);
    const box = place.current;
    if (target && box) box.scrollTo({ top: target.offsetTop - box.clientHeight / 3 });
  }, [first, props.scrolls]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || !place.current) return;
    const buttons = [...place.current.querySelectorAll('button')];
    buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + step]?.focus();
    event.preventDefault();
  };
  const stop = lines.find(({ path }) => path !== undefined)?.path;
  return (
    <section ref={place} aria-label={props.label} className="scrolls linked" onKeyDown={onKeyDown}>
      <pre className="json">
        {lines.map(({ depth, key, text, path, kind, comma }, index) => {
          const described = path === undefined ? undefined : props.describe(path);
          const name = key !== undefined && <span className="k">{JSON.stringify(key)}: </span>;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
            <div key={index} style={{ paddingLeft: `${depth * 2}ch` }}>
              {path === undefined ? (
                <>
                  {name}
                  {text}
                </>
              ) : (
                <button
                  type="button"
                  tabIndex={path === stop ? 0 : -1}
                  data-path={path}
                  data-lit={props.lit.includes(path)}
                  data-loose={described?.isLoose}
                  title={described?.words}
                  onMouseEnter={() => props.onHover(path)}
                  onMouseLeave={() => props.onHover(undefined)}
                  onFocus={() => props.onHover(path)}
                  onBlur={() => props.onHover(undefined)}
                  onClick={() => props.onPick(path)}
                >
                  {name}
                  <span className={kind}>{text}</span>
                  <span className="visually-hidden">, {described?.words}</span>
                </button>
              )}
              {comma && ','}
            </div>
          );
        })}
      </pre>
    </section>
  );
}

export function* linesOf(value: Json, path: string, line: Pick<Line, 'key' | 'depth' | 'comma'>): Generator<Line> {
  const isList = Array.isArray(value);
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0) {
    const kind = typeof value === 'string' ? 's' : value === null || typeof value !== 'object' ? 'n' : 'b';
    yield { ...line, text: JSON.stringify(value), path: kind === 'b' ? undefined : path, kind };
    return;
  }
  yield { ...line, text: isList ? '[' : '{', path: undefined, kind: 'b', comma: false };
  const inner = Object.entries(value);
  for (const [index, [name, child]] of inner.entries()) {
    const at = pathText(path, isList ? Number(name) : name);
    const key = isList ? undefined : name;
    yield* linesOf(child, at, { key, depth: line.depth + 1, comma: index < inner.length - 1 });
  }
  yield { ...line, key: undefined, text: isList ? ']' : '}', path: undefined, kind: 'b' };
}
