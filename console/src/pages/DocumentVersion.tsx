import { Button, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/query.tsx';
import type { DocumentText } from '../api/types.ts';
import { Card, Loaded } from '../parts/basics.tsx';
import { plural } from '../parts/format.ts';
import { lineDiff, parts } from '../parts/lines.ts';
import { useMay } from '../shell/session.ts';

/** An older version: its difference from the version in force, or its full text. */
export function DocumentVersion(props: {
  current: DocumentText;
  version: number;
  onClose: () => void;
  /** Puts its text into the editor, to be checked and applied as a new version. */
  onTake: (text: string) => void;
}) {
  const { current, version } = props;
  const [show, setShow] = useState('changes');
  const admin = useMay('admin');
  const query = useApi(
    'documents.get',
    { kind: current.kind, name: current.name, version },
    { staleMs: Number.POSITIVE_INFINITY },
  );
  return (
    <Card title={`Version ${version}`} aside={`version ${current.version} is in force`}>
      <Loaded query={query}>
        {(old) => (
          <div className="stack">
            <div className="row">
              <SegmentedControl
                value={show}
                onChange={setShow}
                data={[
                  { value: 'changes', label: 'Changes since' },
                  { value: 'text', label: 'Full text' },
                ]}
                aria-label="What to show"
              />
              {admin && (
                <Button variant="default" onClick={() => props.onTake(old.source)}>
                  Restore in the editor
                </Button>
              )}
              <Button variant="default" onClick={props.onClose}>
                Back to the editor
              </Button>
            </div>
            {show === 'text' ? <Text text={old.source} /> : <Changes before={old.source} after={current.source} />}
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function Text({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label="Text of this version" className="scrolls">
      <pre className="json">{text}</pre>
    </section>
  );
}

const signs = { same: ' ', gone: '−', new: '+' } as const;

function Changes({ before, after }: { before: string; after: string }) {
  const found = parts(lineDiff(before, after));
  if (found.length === 0) return <p className="muted">The texts are identical.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label="Changes since this version" className="scrolls">
      <div className="line-diff">
        {found.map(({ skipped, lines }) => (
          <div key={`${lines[0]?.kind} ${lines[0]?.at}`}>
            {skipped > 0 && <p className="skipped">{plural(skipped, 'unchanged line')}</p>}
            {lines.map(({ kind, text, at }) => (
              <div key={`${kind} ${at}`} data-kind={kind}>
                <span aria-hidden="true">{at}</span>
                <span>{signs[kind]}</span>
                <code>{text}</code>
              </div>
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}
