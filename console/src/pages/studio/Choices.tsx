import { Autocomplete, Select, TextInput } from '@mantine/core';
import { useApi } from '../../api/query.tsx';
import { BrandSelect } from '../../parts/BrandSelect.tsx';
import { type Sample, zones } from './sample.ts';
import { isConnectorName } from './suggest.ts';

/** Which connector is edited, and for which brand or property the sample is mapped. */
export function Choices({
  connector,
  onConnector,
  name,
  onName,
  sample,
}: {
  readonly connector: string | undefined;
  readonly onConnector: (chosen: string | undefined) => void;
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly sample: Sample;
}) {
  const documents = useApi('documents.list', {}, { staleMs: 10_000 });
  const connectors = documents.data?.items.filter(({ kind }) => kind === 'connector') ?? [];
  return (
    <div className="filters">
      <Select
        label="Connector"
        value={connector ?? ''}
        onChange={(chosen) => onConnector(chosen || undefined)}
        data={[
          { value: '', label: 'New connector' },
          ...connectors.map((one) => ({ value: one.name, label: one.name })),
        ]}
      />
      {connector === undefined && (
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => onName(event.currentTarget.value)}
          error={isConnectorName(name) ? undefined : 'lower-case letters, digits and -'}
        />
      )}
      <BrandSelect
        label="Map as brand"
        all="None"
        value={sample.integration || undefined}
        onChange={(chosen) => sample.setAsBrand(chosen ?? '')}
      />
      {!sample.integration && (
        <>
          <Autocomplete
            label="Time zone"
            data={zones}
            limit={12}
            value={sample.timezone}
            onChange={sample.setTimezone}
            placeholder="UTC"
          />
          <TextInput
            label="Country"
            value={sample.country}
            onChange={(event) => sample.setCountry(event.currentTarget.value.toUpperCase())}
            maxLength={2}
            placeholder="PT"
          />
        </>
      )}
    </div>
  );
}
