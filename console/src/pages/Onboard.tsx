import { Button, Modal } from '@mantine/core';
import { useEffect, useEffectEvent, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { Issued } from '../api/types.ts';
import { ownMistakes, RefusedNotice, useApplying } from '../editor/applying.tsx';
import { useMistakes, useSchema } from '../editor/checking.ts';
import { YamlEditor } from '../editor/YamlEditor.tsx';
import { Card, Head } from '../parts/basics.tsx';
import { useDraft, useLeaveWarning, useTabDraft } from '../parts/draft.ts';
import { LinkForm } from './links/LinkForm.tsx';
import { authForms } from './onboard/auth.ts';
import { BrandForm } from './onboard/BrandForm.tsx';
import { type Brand, documentOf, emptyBrand, withoutSecrets } from './onboard/brand.ts';
import { FeedForm } from './onboard/FeedForm.tsx';
import { FirstData } from './onboard/FirstData.tsx';
import { MappingForm, SystemForm } from './onboard/SystemForm.tsx';

const steps = ['System', 'Brand', 'Request and mapping', 'Access', 'Review and apply', 'First data'];
const last = steps.length - 1;

/** From nothing to the first data of a brand, on one page. */
export function Onboard() {
  const [draft, saveDraft] = useDraft<{ step: number; brand: Brand }>('onboard');
  const [step, setStep] = useState(draft?.value.step ?? 0);
  const [brand, setBrand] = useState<Brand>(draft ? { ...emptyBrand, ...draft.value.brand } : emptyBrand);
  // Kept here: only the first answer has the secret, and whoever corrects the access comes back to it.
  const [issued, setIssued] = useState<Issued>();
  const [, saveSample] = useTabDraft<string>('studio sample');
  const [linking, setLinking] = useState(false);
  const forms = authForms(useSchema('integration'));
  const change = (some: Partial<Brand>) => setBrand((before) => ({ ...before, ...some }));
  const keep = useEffectEvent(() => {
    if (brand === emptyBrand) saveDraft(undefined);
    // The review needs the secrets, so a reload goes back to the step that asks for them.
    else saveDraft({ step: step === last ? last : Math.min(step, 3), brand: withoutSecrets(brand, forms) });
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: saves whenever one of them changes
  useEffect(() => keep(), [step, brand]);
  useLeaveWarning(brand !== emptyBrand && step < last);
  const isMade = brand.way !== 'connector';
  const startOver = () => {
    setBrand(emptyBrand);
    setIssued(undefined);
    saveSample(undefined);
    setStep(0);
  };
  return (
    <>
      <Head
        title="Connect a brand"
        lead="Find the partner’s system by its name, or paste an answer of its API; Innbound proposes the rest, and you check each step."
      >
        {step === 0 && (
          <Button variant="default" onClick={() => setLinking(true)}>
            Let the partner do it …
          </Button>
        )}
        {brand !== emptyBrand && step < last && (
          <Button variant="default" onClick={startOver}>
            Start over
          </Button>
        )}
      </Head>
      <Modal opened={linking} onClose={() => setLinking(false)} title="A link for the partner of a new brand" size="lg">
        <LinkForm />
      </Modal>
      <ol className="steps">
        {steps.map((label, index) => (
          <li key={label} aria-current={index === step ? 'step' : undefined} data-done={index < step}>
            {label}
          </li>
        ))}
      </ol>
      {step === 0 && <SystemForm brand={brand} onChange={change} onNext={() => setStep(1)} />}
      {step === 1 && (
        <BrandForm brand={brand} onChange={change} onBack={() => setStep(0)} onNext={() => setStep(isMade ? 2 : 3)} />
      )}
      {step === 2 && (
        <MappingForm brand={brand} onChange={change} onBack={() => setStep(1)} onNext={() => setStep(3)} />
      )}
      {step === 3 && (
        <FeedForm brand={brand} onChange={change} onBack={() => setStep(isMade ? 2 : 1)} onNext={() => setStep(4)} />
      )}
      {step === 4 && <ReviewAndApply brand={brand} onBack={() => setStep(3)} onApplied={() => setStep(last)} />}
      {step === last && (
        <FirstData
          brand={brand}
          onEnd={() => {
            saveDraft(undefined);
            saveSample(undefined);
          }}
          onAnother={startOver}
          onAccess={() => setStep(3)}
          issued={issued}
          onIssued={setIssued}
        />
      )}
    </>
  );
}

function ReviewAndApply(props: { brand: Brand; onBack: () => void; onApplied: () => void }) {
  const { brand, onBack } = props;
  const schema = useSchema('integration');
  const made = documentOf(brand, authForms(schema));
  const [text, setText] = useState(made.text);
  const mistakes = useMistakes('integration', brand.name, text);
  const applying = useApplying('integration', brand.name, props.onApplied);
  // After a failed test the form is applied again.
  const inForce = useApi('documents.list', {}).data?.items.find(
    (one) => one.kind === 'integration' && one.name === brand.name,
  );
  const store = useAct(
    async () => {
      // Secrets first: the document is used from the moment it is applied.
      for (const secret of made.secrets) await call('secrets.put', secret);
    },
    () => {
      applying.apply(text, inForce && { source: text, version: inForce.version });
      return undefined;
    },
  );
  return (
    <Card title={`integrations/${brand.name}.yaml`} aside="checked as you type; Ctrl+Space for suggestions">
      <div className="stack">
        <RefusedNotice kind="integration" name={brand.name} refused={applying.refused} />
        {applying.dialog}
        <YamlEditor
          label="Integration as YAML"
          value={text}
          onChange={setText}
          mistakes={mistakes?.length ? mistakes : ownMistakes('integration', brand.name, text, applying.refused)}
          schema={schema}
        />
        <div className="row">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button
            onClick={() => store.mutate(undefined)}
            loading={store.isPending || applying.busy}
            disabled={mistakes === undefined || mistakes.length > 0}
          >
            Apply
          </Button>
        </div>
      </div>
    </Card>
  );
}
