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
}

/** A YAML document with completion from its JSON Schema, and its mistakes both marked in place and listed below. */
export default function CodeEditor(props: EditorProps) {
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
  const first = useEffectEvent(() => value);
  useEffect(() => {
    if (!place.current) return;
    const made = new EditorView({
      doc: first(),
      parent: place.current,
      extensions: yamlExtensions({ label, readOnly, describedBy: listId, onChange: change, complete }),
    });
    setView(made);
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
  const goTo = (mistake: Mistake) => {
    if (!view) return;
    const anchor = startOf(view.state, mistake);
    view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
    view.focus();
  };
  return (
    <>
      <div className="editor" ref={place} />
      <ul className="mistakes" id={listId} hidden={mistakes.length === 0}>
        {mistakes.map((mistake) => (
          <li key={`${mistake.line} ${mistake.column} ${mistake.message}`}>
            <button type="button" onClick={() => goTo(mistake)}>
              Line {mistake.line}: {mistake.message}
              {mistake.suggestion && ` ${mistake.suggestion}`}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
