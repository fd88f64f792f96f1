import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import type { Difference } from '../../api/types.ts';
import { Card, Empty, RelativeTime, State } from '../../parts/basics.tsx';
import { DiffTable } from '../../parts/data.tsx';
import { plural } from '../../parts/format.ts';
import { Table } from '../../parts/Table.tsx';

export type Case = Answer<'cases.check'>['items'][number];

/** The sample shown now, as a case keeps it. */
interface CaseInput {
  readonly sample: string;
  readonly push: boolean;
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
}

/** The kept samples of a connector under its present text. Undefined until they are compared. */
export function useCases(connector: string | undefined, text: string, enabled: boolean) {
  return useApi(
    'cases.check',
    { connector: connector ?? '', text },
    { enabled: enabled && connector !== undefined && text.trim() !== '', keep: true, retry: false, onFocus: false },
  );
}

/** Samples kept with their expected records. A changed mapping must produce the same records, or its author accepts the new ones. */
export function CasesCard(props: {
  readonly connector: string;
  readonly text: string;
  readonly cases: readonly Case[] | undefined;
  readonly error: Error | null;
  readonly current: CaseInput;
  readonly onOpen: (one: Case) => void;
}) {
  const { connector, text, current } = props;
  const [name, setName] = useState('');
  const save = useAct(
    (one: CaseInput & { name: string }) =>
      call('cases.save', {
        connector,
        name: one.name,
        text,
        sample: one.sample,
        push: one.push,
        timezone: one.timezone || undefined,
        country: one.country || undefined,
      }),
    (_, one) => {
      setName('');
      return `Kept as ${one.name}. It must always map to these records.`;
    },
  );
  const remove = useAct(
    (one: string) => call('cases.remove', { connector, name: one }),
    (_, one) => `${one} is forgotten.`,
  );
  const failing = props.cases?.filter(({ passes }) => !passes).length ?? 0;
  return (
    <Card
      title="Cases"
      aside={props.cases && (failing > 0 ? `${plural(failing, 'case')} changed` : 'samples with expected records')}
      flush
    >
      <Table
        label="Cases"
        narrow
        rows={props.cases}
        error={props.error}
        rowKey={(one) => one.name}
        empty={
          <Empty small title="No case yet">
            Keep a sample with its current records: later changes of the mapping are compared with them.
          </Empty>
        }
        columns={[
          {
            head: 'Case',
            cell: (one) => (
              <>
                <strong>{one.name}</strong>{' '}
                <span className="muted small">
                  {one.push ? 'event, ' : ''}kept <RelativeTime at={one.saved_at} /> by {one.saved_by}
                </span>
                {one.message && <div>{one.message}</div>}
                {one.diff.length > 0 && (
                  <details className="fold">
                    <summary>{plural(one.diff.length, 'difference')}</summary>
                    <DiffTable diff={one.diff as Difference[]} />
                  </details>
                )}
              </>
            ),
          },
          {
            head: 'Result',
            cell: ({ passes }) => <State of={passes ? 'done' : 'failed'} label={passes ? 'Passes' : 'Changed'} />,
          },
          {
            head: 'Actions',
            silent: true,
            cell: (one) => (
              <span className="row">
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Open ${one.name}`}
                  onClick={() => props.onOpen(one)}
                >
                  Open
                </Button>
                {!one.passes && one.message === null && (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Accept the new records of ${one.name}`}
                    onClick={() =>
                      save.mutate({ ...one, timezone: one.timezone ?? undefined, country: one.country ?? undefined })
                    }
                  >
                    Accept
                  </Button>
                )}
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Forget ${one.name}`}
                  onClick={() => remove.mutate(one.name)}
                >
                  Forget
                </Button>
              </span>
            ),
          },
        ]}
      />
      <form
        className="row inset"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate({ ...current, name });
        }}
      >
        <TextInput
          aria-label="Name of the case"
          placeholder="two-guests"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          pattern="[a-z0-9][a-z0-9\-]{0,60}"
          required
        />
        <Button
          type="submit"
          variant="default"
          loading={save.isPending}
          disabled={current.sample.trim() === '' || text.trim() === ''}
        >
          Keep this sample
        </Button>
      </form>
    </Card>
  );
}
