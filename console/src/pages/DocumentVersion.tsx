import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, part } from '../api/client.ts';
import type { DocumentText } from '../api/types.ts';
import { Card, Loaded } from '../parts/basics.tsx';
import { lineDiff, parts } from '../parts/lines.ts';
import { useMay } from '../shell/session.ts';

/** An older version beside the one in force: what changed since, or its whole text. */
export function DocumentVersion(props: {
  current: DocumentText;
  version: number;
  onClose: () => void;
  /** Its text into the editor, to be read and applied as a new version. */
  onTake: (text: string) => void;
}) {
  const { current, version } = props;
  const [show, setShow] = useState('changes');
  const admin = useMay('admin');
  const query = useQuery({
    queryKey: ['documents', current.kind, current.name, version],
    queryFn: () => get<DocumentText>(`/documents/${part(current.kind)}/${part(current.name)}`, { version }),
    staleTime: Number.POSITIVE_INFINITY,
  });
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
                  { value: 'changes', label: 'What changed since' },
                  { value: 'text', label: 'Its text' },
                ]}
                aria-label="What to show"
              />
              {admin && (
                <Button variant="default" onClick={() => props.onTake(old.source)}>
                  Take it into the editor
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
  if (found.length === 0) return <p className="muted">The text is the same.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label="What changed since this version" className="scrolls">
      <div className="line-diff">
        {found.map(({ skipped, lines }) => (
          <div key={`${lines[0]?.kind} ${lines[0]?.at}`}>
            {skipped > 0 && <p className="skipped">{skipped} lines the same</p>}
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
