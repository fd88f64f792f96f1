import { Button } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useAct } from '../api/query.tsx';
import type { Mistake } from '../api/types.ts';
import { useMistakes, useSchema } from '../editor/checking.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { Card, Head } from '../parts/basics.tsx';
import { authForms, writeAuth } from './onboard/auth.ts';
import { BrandForm } from './onboard/BrandForm.tsx';
import { type Brand, documentOf, emptyBrand } from './onboard/brand.ts';
import { FeedForm } from './onboard/FeedForm.tsx';
import { FirstEvent } from './onboard/FirstEvent.tsx';

const steps = ['Brand', 'Feeds', 'Review and apply', 'First data'];

/** From nothing to the first data of a brand, on one page. */
export function Onboard() {
  const [step, setStep] = useState(0);
  const [brand, setBrand] = useState<Brand>(emptyBrand);
  const change = (some: Partial<Brand>) => setBrand((before) => ({ ...before, ...some }));
  return (
    <>
      <Head
        title="Connect a brand"
        lead="Four steps: the brand, its feeds and destinations, the document, and its first data."
      />
      <ol className="steps">
        {steps.map((label, index) => (
          <li key={label} aria-current={index === step ? 'step' : undefined} data-done={index < step}>
            {label}
          </li>
        ))}
      </ol>
      {step === 0 && <BrandForm brand={brand} onChange={change} onNext={() => setStep(1)} />}
      {step === 1 && <FeedForm brand={brand} onChange={change} onBack={() => setStep(0)} onNext={() => setStep(2)} />}
      {step === 2 && <ReviewAndApply brand={brand} onBack={() => setStep(1)} onNext={() => setStep(3)} />}
      {step === 3 && (
        <FirstEvent
          brand={brand}
          onAnother={() => {
            setBrand(emptyBrand);
            setStep(0);
          }}
        />
      )}
    </>
  );
}

const none: readonly Mistake[] = [];

function ReviewAndApply({ brand, onBack, onNext }: { brand: Brand; onBack: () => void; onNext: () => void }) {
  const schema = useSchema('integration');
  const form = brand.pulls ? authForms(schema).find(({ title }) => title === brand.auth) : undefined;
  const auth = form && writeAuth(form, brand.authFields, brand.name);
  const [text, setText] = useState(() => documentOf(brand, auth));
  const mistakes = useMistakes('integration', brand.name, text);
  const apply = useAct(
    async () => {
      // Secrets first: the document is used from the moment it is applied.
      for (const secret of auth?.secrets ?? []) await call('secrets.put', secret);
      return call('documents.apply', { kind: 'integration', name: brand.name, text });
    },
    () => {
      onNext();
      return `${brand.name} is in force.`;
    },
  );
  return (
    <Card title={`integrations/${brand.name}.yaml`} aside="checked as you type; Ctrl+Space for suggestions">
      <div className="stack">
        <YamlEditor
          label="Integration as YAML"
          value={text}
          onChange={setText}
          mistakes={mistakes ?? none}
          schema={schema}
        />
        <div className="row">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button
            onClick={() => apply.mutate(undefined)}
            loading={apply.isPending}
            disabled={mistakes === undefined || mistakes.length > 0}
          >
            Apply
          </Button>
        </div>
      </div>
    </Card>
  );
}
