import { Button } from '@mantine/core';
import { useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { useAct } from '../../api/query.tsx';
import type { Difference } from '../../api/types.ts';
import { Card, Notice } from '../../parts/basics.tsx';
import { mappingEffect } from '../../parts/claims.ts';
import { DiffTable } from '../../parts/data.tsx';
import { plural } from '../../parts/format.ts';
import { RecordLink } from '../../parts/links.tsx';

/** What the changed mapping would do to the last stored payloads of a brand. */
export function EffectCard({ integration, connector }: { integration: string; connector: string }) {
  const [seen, setSeen] = useState<{ effect: Answer<'map.effect'>; of: string }>();
  const look = useAct(
    () => call('map.effect', { integration, connector }),
    (effect) => {
      setSeen({ effect, of: connector });
      return undefined;
    },
  );
  const effect = seen?.of === connector ? seen.effect : undefined;
  return (
    <Card title="Effect on stored payloads" aside={integration}>
      <div className="stack">
        <div>
          <Button variant="default" onClick={() => look.mutate(undefined)} loading={look.isPending}>
            Try on the last 100 payloads
          </Button>
        </div>
        {effect && <Effect integration={integration} effect={effect} />}
      </div>
    </Card>
  );
}

function Effect({ integration, effect }: { integration: string; effect: Answer<'map.effect'> }) {
  const { unchanged, refused, samples } = effect;
  const { tone, text } = mappingEffect(effect);
  return (
    <>
      <Notice tone={tone} role="status" title={text}>
        {unchanged} unchanged, {refused} refused. Nothing was changed.
      </Notice>
      {samples.map(({ id, diff }) => (
        <details key={id} className="fold">
          <summary>
            {id}: {plural((diff as unknown[]).length, 'changed field')}
          </summary>
          <DiffTable diff={diff as unknown as Difference[]} />
          <RecordLink integration={integration} id={id}>
            Timeline
          </RecordLink>
        </details>
      ))}
    </>
  );
}
