import { Select } from '@mantine/core';
import { useApi } from '../api/query.tsx';
import type { Integration } from '../api/types.ts';

export function useBrands(): readonly Integration[] {
  return useApi('integrations.list', {}, { staleMs: 30_000 }).data?.items ?? [];
}

export function BrandSelect(props: {
  value: string | undefined;
  onChange: (name: string | undefined) => void;
  label?: string;
  all?: string;
}) {
  const brands = useBrands();
  return (
    <Select
      label={props.label ?? 'Brand'}
      value={props.value ?? ''}
      onChange={(name) => props.onChange(name || undefined)}
      data={[
        { value: '', label: props.all ?? 'All brands' },
        ...brands.map(({ name }) => ({ value: name, label: name })),
      ]}
      searchable={brands.length > 8}
      limit={200}
    />
  );
}
