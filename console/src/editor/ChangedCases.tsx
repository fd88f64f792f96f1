import { Button, Modal } from '@mantine/core';
import { useApi } from '../api/query.tsx';
import type { Difference } from '../api/types.ts';
import { Loaded, Notice } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { DiffTable } from '../parts/data.tsx';
import { plural } from '../parts/format.ts';

/** An apply was refused because kept samples would produce other records: shows the differences and asks for a confirmation. */
export function ChangedCases(props: {
  connector: string;
  text: string;
  busy: boolean;
  onAccept: () => void;
  onClose: () => void;
}) {
  const { connector, text } = props;
  const query = useApi('cases.check', { connector, text }, { fresh: true, retry: false, onFocus: false });
  return (
    <Modal opened onClose={props.onClose} title="Kept cases would change" size="lg">
      <Loaded query={query}>
        {({ items }) => {
          const changed = items.filter(({ passes }) => !passes);
          const broken = changed.filter(({ message }) => message !== null);
          return (
            <div className="stack">
              <p>
                Nothing was applied. {plural(changed.length, 'kept sample')} of {connector} would become other records
                than today.
              </p>
              {changed.map(({ name, message, diff }) => (
                <section key={name} aria-label={`Case ${name}`}>
                  <h3>{name}</h3>
                  {message === null ? (
                    <DiffTable diff={diff as Difference[]} />
                  ) : (
                    <Notice tone="bad" title="It can no longer be mapped">
                      {message}
                    </Notice>
                  )}
                </section>
              ))}
              {broken.length > 0 && (
                <p>
                  A case that cannot be mapped cannot be accepted: correct the mapping, or forget the case in the
                  mapping studio.
                </p>
              )}
              <DialogButtons onCancel={props.onClose} cancel="Back to the editor" safe>
                <Button data-danger onClick={props.onAccept} loading={props.busy} disabled={broken.length > 0}>
                  Apply and accept the new records
                </Button>
              </DialogButtons>
            </div>
          );
        }}
      </Loaded>
    </Modal>
  );
}
