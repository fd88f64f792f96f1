import { Select } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../api/query.tsx';

/** The brands to choose from: all if they fit on a page of the API, otherwise those that contain the typed text. */
export function useBrandChoices(chosen: readonly string[], none?: string) {
  const [sought, setSought] = useState('');
  const all = useApi('integrations.list', {}, { staleMs: 30_000 }).data;
  const isPart = (all?.next_cursor ?? null) !== null;
  // At first the field shows the present choice; that is not a search.
  const isSought = isPart && ![...chosen, none, ''].includes(sought);
  const matches = useApi('integrations.list', { q: sought }, { staleMs: 30_000, enabled: isSought, keep: true }).data;
  const names = ((isSought ? matches : all)?.items ?? []).map(({ name }) => name);
  return {
    // A chosen brand that is not among the choices would not be shown.
    data: [...new Set([...names, ...chosen])],
    searchable: isPart || names.length > 8,
    onSearchChange: setSought,
    limit: 200,
    nothingFoundMessage: 'No brand contains this',
  };
}

export function BrandSelect(props: {
  value: string | undefined;
  onChange: (name: string | undefined) => void;
  label?: string;
  all?: string;
}) {
  const none = props.all ?? 'All brands';
  const { data, ...search } = useBrandChoices(props.value === undefined ? [] : [props.value], none);
  return (
    <Select
      {...search}
      label={props.label ?? 'Brand'}
      value={props.value ?? ''}
      onChange={(name) => props.onChange(name || undefined)}
      data={[{ value: '', label: none }, ...data.map((name) => ({ value: name, label: name }))]}
    />
  );
}
