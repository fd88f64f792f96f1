import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import { Notice } from '../../parts/basics.tsx';
import { plural, words } from '../../parts/format.ts';
import { StartJob } from '../../parts/StartJob.tsx';
import { useMay } from '../../shell/session.ts';

/** The dead letter that the sample came from: it is replayed from here, once the mapping is applied. */
export function LetterNotice({ id, isDirty }: { readonly id: string; readonly isDirty: boolean }) {
  const operator = useMay('operator');
  const [all, setAll] = useState(false);
  const { data: letter } = useApi('dead_letters.get', { id });
  const reason = { integration: letter?.integration, code: letter?.code, message: letter?.message };
  const same = useApi('dead_letters.list', { ...reason, limit: 1 }, { enabled: letter !== undefined }).data?.total ?? 0;
  const replay = useAct(
    () => call('dead_letters.replay', { id, under: 'today' }),
    ({ result, message }) => (result === 'replayed' ? 'Replayed.' : `It stays open: ${message ?? words(result)}`),
  );
  if (letter === undefined) return null;
  return (
    <Notice tone={letter.state === 'open' ? 'warn' : 'calm'} title={letter.message}>
      <p>
        The sample is the payload of{' '}
        <Link to="/dead-letters/$id" params={{ id }}>
          dead letter {id}
        </Link>
        , which is {letter.state}.{letter.state === 'open' && isDirty && ' Apply the change, then replay it here.'}
      </p>
      {operator && letter.state === 'open' && (
        <div className="row">
          <Button size="xs" disabled={isDirty} loading={replay.isPending} onClick={() => replay.mutate(undefined)}>
            Replay it
          </Button>
          {same > 1 && (
            <Button size="xs" variant="default" disabled={isDirty} onClick={() => setAll(true)}>
              Replay all {plural(same, 'dead letter')} of this reason …
            </Button>
          )}
        </div>
      )}
      {all && (
        <StartJob
          request={{ operation: 'replay', ...reason }}
          lead="Each one is tried first. Those that would fail again stay open and change nothing."
          onClose={() => setAll(false)}
        />
      )}
    </Notice>
  );
}
