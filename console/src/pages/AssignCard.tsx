import { Button } from '@mantine/core';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { fullName } from '../api/record.ts';
import type { GuestCandidate, WholeDeadLetter } from '../api/types.ts';
import { Card, Empty } from '../parts/basics.tsx';
import { RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { Who } from '../parts/Who.tsx';
import { useMay } from '../shell/session.ts';

/** Whom an ambiguous guest event means: an operator assigns it to one of the persons. */
export function AssignCard({ letter: { id, integration } }: { letter: WholeDeadLetter }) {
  const operator = useMay('operator');
  const query = useApi('dead_letters.candidates', { id }, { onFocus: false });
  const assign = useAct(
    (to: GuestCandidate['at']) => call('dead_letters.assign', { id, to }),
    ({ result, message }) =>
      result === 'assigned'
        ? 'Assigned. The person’s profile and coming stays change now.'
        : `It stays open. ${message}`,
  );
  const nameOf = ({ at, person }: GuestCandidate) => (person && fullName(person)) || textOf(at);
  return (
    <Card title="Whom does it mean?" aside="a guest’s profile and coming stays change together" flush>
      <Table
        label="Persons whom the event may mean"
        rows={query.data?.items}
        error={query.error}
        rowKey={({ at }) => textOf(at)}
        empty={<Empty small title="Nobody whom it may mean is stored any more" />}
        columns={[
          {
            head: 'Person',
            cell: ({ at, person }) =>
              person ? (
                <Who guest={person} id={<Place integration={integration} at={at} />} />
              ) : (
                <Place {...{ integration, at }} />
              ),
          },
          { head: 'Born', phone: 'labelled', cell: ({ person }) => person?.date_of_birth ?? '–' },
          {
            head: 'Stay',
            phone: 'labelled',
            cell: ({ stay }) =>
              stay ? <span className="nowrap num">{`${stay.check_in} – ${stay.check_out}`}</span> : '–',
          },
          {
            head: 'Assign',
            silent: true,
            cell: (one) =>
              one.person === null ? (
                <span className="muted">no longer there</span>
              ) : (
                operator && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`Assign to ${nameOf(one)}, ${textOf(one.at)}`}
                    loading={assign.isPending && assign.variables === one.at}
                    onClick={() => assign.mutate(one.at)}
                  >
                    Assign
                  </Button>
                )
              ),
          },
        ]}
      />
    </Card>
  );
}

const textOf = (at: GuestCandidate['at']): string =>
  'profile' in at ? `profile ${at.profile}` : `guest ${at.place + 1} of reservation ${at.reservation}`;

function Place({ integration, at }: { integration: string; at: GuestCandidate['at'] }) {
  const record = 'profile' in at ? { type: 'guest', id: at.profile } : { id: at.reservation };
  return (
    <RecordLink integration={integration} {...record}>
      {textOf(at)}
    </RecordLink>
  );
}
