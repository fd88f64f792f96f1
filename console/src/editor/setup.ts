import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentService, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Mistake } from '../api/types.ts';
import type { Offers } from './completion.ts';

/** The page's nonce: the content security policy refuses style elements without it. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

export function yamlExtensions(options: {
  readonly label: string;
  readonly readOnly: boolean;
  /** The id of the element that lists the mistakes. */
  readonly describedBy: string;
  readonly onChange: (text: string) => void;
  readonly complete: (text: string, caret: number) => Offers | undefined;
}): Extension {
  return [
    EditorView.cspNonce.of(nonce),
    EditorView.contentAttributes.of({
      'aria-label': options.label,
      'aria-describedby': options.describedBy,
      tabindex: '0',
    }),
    EditorState.readOnly.of(options.readOnly),
    lineNumbers(),
    history(),
    yaml(),
    indentUnit.of('  '),
    // The language's own indentation does not add a level after "key:" at the end of a document.
    indentService.of((context, at) => {
      const { text } = context.lineAt(at, -1);
      return (/^\s*/.exec(text)?.[0].length ?? 0) + (/:\s*$/.test(text) ? 2 : 0);
    }),
    syntaxHighlighting(colours),
    lintGutter(),
    autocompletion({ override: [completionsOf(options.complete)], icons: false }),
    // Tab is left to the browser: keyboard users need it to leave the editor.
    keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) options.onChange(update.state.doc.toString());
    }),
    look,
  ];
}

function completionsOf(complete: (text: string, caret: number) => Offers | undefined) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const offers = complete(state.doc.toString(), pos);
    if (!offers || (!explicit && offers.from === pos)) return null;
    return { from: offers.from, options: offers.words.map((label) => ({ label })), validFor: /^[\w.[\]-]*$/ };
  };
}

/** Where a mistake starts. The text may have changed since the check, so the position is clamped to the document. */
export function startOf({ doc }: EditorState, { line, column }: Pick<Mistake, 'line' | 'column'>): number {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(at.to, at.from + Math.max(0, column - 1));
}

export function diagnosticOf(state: EditorState, mistake: Mistake): Diagnostic {
  const from = startOf(state, mistake);
  const message = [mistake.message, mistake.suggestion].filter(Boolean).join(' ');
  return { from, to: state.doc.lineAt(from).to, severity: 'error', message };
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.lineComment, tags.comment], color: 'var(--muted)', fontStyle: 'italic' },
]);

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--sunk)', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--muted)', borderRight: '1px solid var(--line)' },
  '.cm-content ::selection': { backgroundColor: 'color-mix(in srgb, var(--accent-fill) 40%, transparent)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', maxHeight: '180px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-wash)',
    color: 'var(--accent)',
  },
});
