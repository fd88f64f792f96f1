import { Button } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/query.tsx';
import type { DocumentText } from '../api/types.ts';
import { Card, Loaded } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { LineDiff } from '../parts/LineDiff.tsx';
import { useMay } from '../shell/session.ts';

/** An older version: its difference from the version in force, or its full text. */
export function DocumentVersion(props: {
  current: DocumentText;
  version: number;
  onClose: () => void;
  /** Puts its text in force again, as a new version. */
  onRestore: (text: string) => void;
  /** Puts its text into the editor, to be changed first. */
  onTake: (text: string) => void;
}) {
  const { current, version } = props;
  const [show, setShow] = useState<'changes' | 'text'>('changes');
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
              <Choice
                label="What to show"
                options={{ changes: 'Changes since', text: 'Full text' }}
                value={show}
                onChange={setShow}
              />
              {admin && (
                <>
                  <Button onClick={() => props.onRestore(old.source)}>Apply version {version} again</Button>
                  <Button variant="default" onClick={() => props.onTake(old.source)}>
                    Copy into the editor
                  </Button>
                </>
              )}
              <Button variant="default" onClick={props.onClose}>
                Back to the editor
              </Button>
            </div>
            {show === 'text' ? (
              <Text text={old.source} />
            ) : (
              <LineDiff before={old.source} after={current.source} label="Changes since this version" />
            )}
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
