import { Button, Checkbox } from '@mantine/core';
import { Card } from '../../parts/basics.tsx';
import { useMay } from '../../shell/session.ts';
import { SampleText } from './SampleText.tsx';
import type { Sample } from './sample.ts';

export function SampleCard({
  sample,
  suggest,
}: {
  readonly sample: Sample;
  readonly suggest: { readonly isPending: boolean; readonly mutate: (none: undefined) => void };
}) {
  const { text, integration, fetching } = sample;
  const operator = useMay('operator');
  return (
    <Card
      title="Sample"
      aside={
        <Checkbox
          size="xs"
          label="The sample is an event"
          checked={sample.isEvent}
          onChange={(event) => sample.setIsEvent(event.currentTarget.checked)}
        />
      }
    >
      <div className="stack">
        <SampleText value={text} onChange={sample.setText} height={400} />
        <div className="row">
          <Button onClick={() => suggest.mutate(undefined)} loading={suggest.isPending} disabled={text.trim() === ''}>
            Suggest a mapping
          </Button>
          {operator && integration && sample.isPulled && (
            <Button variant="default" onClick={() => fetching.mutate(integration)} loading={fetching.isPending}>
              Fetch a sample from this brand
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}
