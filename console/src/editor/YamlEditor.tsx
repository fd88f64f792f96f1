import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import type { Mistake } from '../api/types.ts';
import { type Offers, offersAt, type Schema } from './completion.ts';

const lineHeight = 20;
const charWidth = 7.82;

/**
 * A plain textarea over its own text in colour: the browser's undo, selection, spelling of keys and screen readers all work,
 * which no editor widget gives for less than some hundred kilobytes.
 */
export function YamlEditor(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  readonly mistakes: readonly Mistake[];
  readonly schema?: Schema | undefined;
  /** Paths of the sample, offered where a mapping names its source. */
  readonly paths?: readonly string[];
  readonly readOnly?: boolean;
}) {
  const { value, mistakes } = props;
  const area = useRef<HTMLTextAreaElement>(null);
  const [scroll, setScroll] = useState({ top: 0, left: 0 });
  const [offers, setOffers] = useState<(Offers & { at: number }) | undefined>();
  const listId = useId();
  const lines = value.split('\n');
  const wrong = new Map(mistakes.map((mistake) => [mistake.line, mistake]));

  const offer = (text: string, caret: number) => {
    const found = props.schema && offersAt(text, caret, props.schema, props.paths ?? []);
    setOffers(found && { ...found, at: 0 });
  };
  const take = (word: string) => {
    const element = area.current;
    if (!element || !offers) return;
    const caret = element.selectionStart;
    element.setSelectionRange(offers.from, caret);
    // The one way to write into a textarea that keeps the browser's undo.
    document.execCommand('insertText', false, word);
    setOffers(undefined);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const element = event.currentTarget;
    if (offers) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const word = offers.words[offers.at];
      if (step !== undefined) {
        event.preventDefault();
        return setOffers({ ...offers, at: (offers.at + step + offers.words.length) % offers.words.length });
      }
      if (event.key === 'Enter' && word !== undefined) {
        event.preventDefault();
        return take(word);
      }
      if (event.key === 'Escape') {
        event.preventDefault();
        event.stopPropagation();
        return setOffers(undefined);
      }
    }
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      offer(element.value, element.selectionStart);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      const line = element.value.slice(0, element.selectionStart).split('\n').at(-1) ?? '';
      const indent = /^\s*/.exec(line)?.[0] ?? '';
      document.execCommand('insertText', false, `\n${indent}${/:\s*$/.test(line) ? '  ' : ''}`);
    }
  };
  return (
    <>
      <div className="editor">
        <div className="gutter" aria-hidden="true">
          <div style={{ transform: `translateY(${-scroll.top}px)` }}>
            {lines.map((_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
              <span key={index} data-wrong={wrong.has(index + 1)} title={wrong.get(index + 1)?.message}>
                {index + 1}
              </span>
            ))}
          </div>
        </div>
        <div className="paper">
          <pre aria-hidden="true">
            <div style={{ transform: `translate(${-scroll.left}px, ${-scroll.top}px)` }}>
              {lines.map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
                <div key={index}>{coloured(line, wrong.get(index + 1))}</div>
              ))}
            </div>
          </pre>
          <textarea
            ref={area}
            aria-label={props.label}
            aria-invalid={mistakes.length > 0}
            aria-describedby={mistakes.length > 0 ? `${listId}-mistakes` : undefined}
            value={value}
            readOnly={props.readOnly}
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            wrap="off"
            onScroll={({ currentTarget: at }) => setScroll({ top: at.scrollTop, left: at.scrollLeft })}
            onChange={({ currentTarget: at, nativeEvent }) => {
              props.onChange(at.value);
              const typed = (nativeEvent as InputEvent).data;
              if (typed && /[\w. ]/.test(typed)) offer(at.value, at.selectionStart);
              else setOffers(undefined);
            }}
            onKeyDown={onKeyDown}
            onBlur={() => setOffers(undefined)}
          />
          {offers && <OfferList offers={offers} value={value} scroll={scroll} onTake={take} />}
        </div>
      </div>
      {mistakes.length > 0 && (
        <ul className="mistakes" id={`${listId}-mistakes`}>
          {mistakes.map((mistake) => (
            <li key={`${mistake.line} ${mistake.column} ${mistake.message}`}>
              <button type="button" onClick={() => goTo(area.current, value, mistake)}>
                Line {mistake.line}: {mistake.message}
                {mistake.suggestion && ` ${mistake.suggestion}`}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function OfferList(props: {
  offers: Offers & { at: number };
  value: string;
  scroll: { top: number; left: number };
  onTake: (word: string) => void;
}) {
  const before = props.value.slice(0, props.offers.from).split('\n');
  const top = before.length * lineHeight + 8 - props.scroll.top;
  const left = Math.max(0, (before.at(-1)?.length ?? 0) * charWidth + 6 - props.scroll.left);
  return (
    <ul className="offers" style={{ top, left }} aria-label="What may stand here">
      {props.offers.words.map((word, index) => (
        <li
          key={word}
          aria-current={index === props.offers.at}
          ref={(element) => {
            if (index === props.offers.at) element?.scrollIntoView({ block: 'nearest' });
          }}
          onMouseDown={(event) => {
            event.preventDefault();
            props.onTake(word);
          }}
        >
          {word}
        </li>
      ))}
    </ul>
  );
}

function goTo(area: HTMLTextAreaElement | null, value: string, { line, column }: Mistake): void {
  if (!area) return;
  const lines = value.split('\n');
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + Math.max(0, column - 1);
  area.focus();
  area.setSelectionRange(start, start);
  area.scrollTop = Math.max(0, (line - 4) * lineHeight);
}

function coloured(line: string, mistake: Mistake | undefined): ReactNode {
  if (line === '') return ' ';
  if (mistake) {
    const at = Math.min(Math.max(0, mistake.column - 1), Math.max(0, line.length - 1));
    return (
      <>
        {tokens(line.slice(0, at))}
        <mark>{line.slice(at)}</mark>
      </>
    );
  }
  return tokens(line);
}

function tokens(line: string): ReactNode {
  const parts: ReactNode[] = [];
  let last = 0;
  for (const match of line.matchAll(/(#.*$)|("(?:\\.|[^"])*"|'[^']*')|([\w.-]+)(?=:(?:\s|$))/g)) {
    if (match[1] !== undefined && match.index > 0 && !/\s/.test(line[match.index - 1] ?? '')) continue;
    parts.push(line.slice(last, match.index));
    parts.push(
      <span key={match.index} className={match[1] ? 'y-comment' : match[2] ? 'y-text' : 'y-key'}>
        {match[0]}
      </span>,
    );
    last = match.index + match[0].length;
  }
  parts.push(line.slice(last));
  return parts;
}
