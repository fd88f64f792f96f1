import { Button } from '@mantine/core';
import { useMemo } from 'react';
import type { Mistake } from '../../api/types.ts';
import { AppliedNotice, ImpactNotice, RefusedNotice, type useApplying } from '../../editor/applying.tsx';
import { useSchema } from '../../editor/checking.ts';
import { pathsIn } from '../../editor/paths.ts';
import { YamlEditor } from '../../editor/YamlEditor.tsx';
import { Card } from '../../parts/basics.tsx';
import { useMay } from '../../shell/session.ts';

export function ConnectorCard({
  name,
  isNew,
  yaml,
  onYaml,
  isDirty,
  onDiscard,
  applying,
  mistakes,
  sample,
}: {
  readonly name: string;
  readonly isNew: boolean;
  readonly yaml: string;
  readonly onYaml: (text: string) => void;
  readonly isDirty: boolean;
  readonly onDiscard: () => void;
  readonly applying: ReturnType<typeof useApplying>;
  readonly mistakes: readonly Mistake[];
  /** The editor proposes the paths in it. */
  readonly sample: string;
}) {
  const admin = useMay('admin');
  const schema = useSchema('connector');
  const paths = useMemo(() => pathsIn(sample), [sample]);
  return (
    <Card
      title="Connector"
      aside={
        isDirty && !isNew ? (
          <Button size="compact-xs" variant="default" onClick={onDiscard}>
            Discard the draft
          </Button>
        ) : (
          'Ctrl+Space for suggestions'
        )
      }
    >
      <div className="stack">
        <RefusedNotice kind="connector" name={name} refused={applying.refused} />
        {applying.dialog}
        {!isDirty && (
          <AppliedNotice
            kind="connector"
            name={name}
            applied={applying.applied}
            onUndo={applying.undo}
            busy={applying.busy}
          />
        )}
        {isDirty && admin && !isNew && <ImpactNotice kind="connector" name={name} />}
        <YamlEditor
          label="Connector as YAML"
          value={yaml}
          onChange={onYaml}
          mistakes={mistakes}
          schema={schema}
          paths={paths}
        />
      </div>
    </Card>
  );
}
