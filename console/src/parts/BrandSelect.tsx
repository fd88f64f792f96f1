import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { get } from '../api/client.ts';
import type { Integration } from '../api/types.ts';

export function useBrands(): Integration[] {
  const { data } = useQuery({
    queryKey: ['integrations', 'list'],
    queryFn: ({ signal }) => get<{ items: Integration[] }>('/integrations', undefined, signal),
    staleTime: 30_000,
  });
  return data?.items ?? [];
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
    />
  );
}
