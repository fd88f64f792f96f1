import { Suspense } from 'react';
import { Loading } from '../parts/basics.tsx';
import { patiently } from '../parts/patiently.tsx';
import type { EditorProps } from './CodeEditor.tsx';

/** CodeMirror is a third of the console's size and only three pages edit, so it is a separate file that only those pages load. */
const CodeEditor = patiently(async () => (await import('./CodeEditor.tsx')).CodeEditor);

export function YamlEditor(props: EditorProps) {
  return (
    <Suspense fallback={<Loading />}>
      <CodeEditor {...props} />
    </Suspense>
  );
}
