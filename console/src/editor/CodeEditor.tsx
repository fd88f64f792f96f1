import { setDiagnostics } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import type { Mistake } from '../api/types.ts';
import { offersAt, type Schema } from './completion.ts';
import { diagnosticOf, startOf, yamlExtensions } from './setup.ts';

export interface EditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  readonly mistakes: readonly Mistake[];
  readonly schema?: Schema | undefined;
  /** Paths of the sample, offered where a mapping names its source. */
  readonly paths?: readonly string[];
  readonly readOnly?: boolean;
  /** Where to put the caret when the editor opens. */
  readonly line?: number | undefined;
}

/** A YAML document with completion from its JSON Schema, and its mistakes both marked in place and listed below. */
export function CodeEditor(props: EditorProps) {
  const { value, label, mistakes, readOnly = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<EditorView>();
  const listId = useId();
  const change = useEffectEvent((text: string) => {
    if (text !== value) props.onChange(text);
  });
  const complete = useEffectEvent(
    (text: string, caret: number) => props.schema && offersAt(text, caret, props.schema, props.paths ?? []),
  );
  const first = useEffectEvent(() => ({ doc: value, line: props.line }));
  useEffect(() => {
    if (!place.current) return;
    const { doc, line } = first();
    const made = new EditorView({
      doc,
      parent: place.current,
      extensions: yamlExtensions({ label, readOnly, describedBy: listId, onChange: change, complete }),
    });
    setView(made);
    if (line !== undefined) jump(made, { line, column: 1 });
    return () => made.destroy();
  }, [label, readOnly, listId]);
  useEffect(() => {
    if (!view || view.state.doc.toString() === value) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } });
  }, [view, value]);
  useEffect(() => {
    view?.dispatch(
      setDiagnostics(
        view.state,
        mistakes.map((one) => diagnosticOf(view.state, one)),
      ),
    );
  }, [view, mistakes]);
  return (
    <>
      <div className="editor" ref={place} />
      <ul className="mistakes" id={listId} hidden={mistakes.length === 0}>
        {mistakes.map((mistake) => (
          <li key={`${mistake.line} ${mistake.column} ${mistake.message}`}>
            <button type="button" onClick={() => view && jump(view, mistake)}>
              Line {mistake.line}: {mistake.message}
              {mistake.suggestion && ` ${mistake.suggestion}`}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function jump(view: EditorView, place: Pick<Mistake, 'line' | 'column'>): void {
  const anchor = startOf(view.state, place);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
  view.focus();
}
