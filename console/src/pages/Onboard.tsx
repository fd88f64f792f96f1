import { Button } from '@mantine/core';
import { useState } from 'react';
import { part, put } from '../api/client.ts';
import type { Mistake } from '../api/types.ts';
import { useMistakes, useSchema } from '../editor/checking.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { useAct } from '../parts/act.ts';
import { Card, Head } from '../parts/basics.tsx';
import { authForms, writeAuth } from './onboard/auth.ts';
import { BrandForm } from './onboard/BrandForm.tsx';
import { type Brand, documentOf, emptyBrand } from './onboard/brand.ts';
import { FeedForm } from './onboard/FeedForm.tsx';
import { FirstEvent } from './onboard/FirstEvent.tsx';

const steps = ['The brand', 'How it is fed', 'Read and apply', 'First event'];

/** From nothing to a first event seen, without leaving the page. */
export function Onboard() {
  const [step, setStep] = useState(0);
  const [brand, setBrand] = useState<Brand>(emptyBrand);
  const change = (some: Partial<Brand>) => setBrand((before) => ({ ...before, ...some }));
  return (
    <>
      <Head
        title="Connect a brand"
        lead="Four steps: who it is, how its data comes in, what is put in force, and the first event."
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
      {step === 2 && <ReadAndApply brand={brand} onBack={() => setStep(1)} onNext={() => setStep(3)} />}
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

function ReadAndApply({ brand, onBack, onNext }: { brand: Brand; onBack: () => void; onNext: () => void }) {
  const schema = useSchema('integration');
  const form = brand.pulls ? authForms(schema).find(({ title }) => title === brand.auth) : undefined;
  const auth = form && writeAuth(form, brand.authFields, brand.name);
  const [text, setText] = useState(() => documentOf(brand, auth));
  const mistakes = useMistakes('integration', brand.name, text);
  const apply = useAct(
    async () => {
      // First what it refers to: a document that is in force is used at once.
      for (const { name, value } of auth?.secrets ?? []) await put(`/secrets/${part(name)}`, { value });
      return put<{ version: number }>(`/documents/integration/${part(brand.name)}`, { text });
    },
    () => {
      onNext();
      return `${brand.name} is in force.`;
    },
  );
  return (
    <Card title={`integrations/${brand.name}.yaml`} aside="checked as you type; Ctrl+Space: what may stand here">
      <div className="stack">
        <YamlEditor
          label="Integration, as YAML"
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
