import { Button, Modal } from '@mantine/core';
import { useApi } from '../api/query.tsx';
import type { DocumentKind } from '../api/types.ts';
import { Loaded } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { LineDiff } from '../parts/LineDiff.tsx';

/** An apply was refused because another version came into force meanwhile: shows what it would undo and asks for a confirmation. */
export function OutdatedText(props: {
  kind: DocumentKind;
  name: string;
  text: string;
  busy: boolean;
  onReplace: (version: number) => void;
  onClose: () => void;
}) {
  const { kind, name, text } = props;
  const query = useApi('documents.get', { kind, name }, { fresh: true, retry: false, onFocus: false });
  return (
    <Modal opened onClose={props.onClose} title="Another version is in force" size="lg">
      <Loaded query={query}>
        {({ version, source, applied_by }) => (
          <div className="stack">
            <p>
              Nothing was applied. Version {version} of {name}, applied by {applied_by}, is newer than the text you
              started from. Your text would change it like this:
            </p>
            <LineDiff before={source} after={text} label="What your text would change" />
            <DialogButtons onCancel={props.onClose} cancel="Back to the editor" safe>
              <Button data-danger onClick={() => props.onReplace(version)} loading={props.busy}>
                Replace version {version}
              </Button>
            </DialogButtons>
          </div>
        )}
      </Loaded>
    </Modal>
  );
}
