import { Pagination } from '@mantine/core';
import { useState } from 'react';
import type { Previewed } from '../api/types.ts';
import { Card, Empty, Failure, meaning, Notice, State } from '../parts/basics.tsx';
import { JsonText, Notes } from '../parts/data.tsx';
import { plural } from '../parts/format.ts';

/** The canonical records that a sample becomes, with what was cleaned and what is not mapped. */
export function Mapped({ preview, error }: { preview: Previewed | undefined; error: Error | null }) {
  const [wanted, setWanted] = useState(1);
  if (error) return <Failure error={error} />;
  if (!preview) return null;
  const at = Math.min(wanted, Math.max(1, preview.records.length));
  const shown = preview.records[at - 1];
  const good = preview.records.filter(({ kind }) => kind === 'record').length;
  return (
    <Card
      title="Canonical records"
      aside={`${good} of ${plural(preview.records.length, 'record')} valid, ${preview.total} in the sample`}
    >
      <div className="stack">
        {preview.mistakes.length > 0 && (
          <Notice tone="bad" title={`${plural(preview.mistakes.length, 'mistake')} in the connector`}>
            They are marked in the editor.
          </Notice>
        )}
        {preview.problem && (
          <Notice tone="bad" title={preview.problem.message}>
            {meaning(preview.problem.code)?.next}
          </Notice>
        )}
        {preview.records.length > 1 && (
          <Pagination
            size="sm"
            total={preview.records.length}
            value={at}
            onChange={setWanted}
            siblings={1}
            getItemProps={(page) => ({ 'aria-label': `Record ${page}` })}
            getControlProps={(control) => ({ 'aria-label': `${control} record` })}
          />
        )}
        {shown === undefined ? (
          preview.mistakes.length === 0 && <Empty title="The sample has no records" />
        ) : (
          <One record={shown} />
        )}
      </div>
    </Card>
  );
}

function One({ record }: { record: Previewed['records'][number] }) {
  const notes = record.notes ?? [];
  const unmapped = record.unmapped ?? [];
  const renamed = Object.entries(record.origins ?? {}).filter(([to, from]) => to !== from);
  return (
    <>
      {record.kind === 'dead' && (
        <Notice tone="bad" title={record.message ?? 'It would become a dead letter'}>
          {record.code && meaning(record.code)?.next}
        </Notice>
      )}
      {record.kind === 'dropped' && (
        <Notice tone="warn" title="A transform rule drops it">
          {record.message}
        </Notice>
      )}
      {record.kind === 'record' && (
        <div className="row">
          <State of="complete" label="Valid" />
          {record.id && <code>{record.id}</code>}
        </div>
      )}
      {record.record !== undefined && <JsonText value={record.record} label="Canonical record" />}
      {notes.length > 0 && (
        <div>
          <h3>Cleaned or derived</h3>
          <Notes notes={notes} />
        </div>
      )}
      {unmapped.length > 0 && (
        <div>
          <h3>Not mapped</h3>
          <p className="small mono">{unmapped.join(', ')}</p>
        </div>
      )}
      {renamed.length > 0 && (
        <details className="fold">
          <summary>Where each field came from</summary>
          <dl className="facts small mono">
            {renamed.map(([to, from]) => (
              <div key={to} style={{ display: 'contents' }}>
                <dt>{to}</dt>
                <dd>{from}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}
