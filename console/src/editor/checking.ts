import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { get, post } from '../api/client.ts';
import type { DocumentRow, Mistake } from '../api/types.ts';
import type { Schema } from './completion.ts';

/** The value once it has stood still for a moment. */
export function useSettled<T>(value: T, ms = 350): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

export function useSchema(kind: DocumentRow['kind']): Schema | undefined {
  return useQuery({ queryKey: ['schema', kind], queryFn: () => get<Schema>(`/schemas/${kind}`), staleTime: Infinity })
    .data;
}

/** The mistakes of a text among all other documents, as it is typed. */
export function useMistakes(
  kind: DocumentRow['kind'],
  name: string | undefined,
  text: string,
): readonly Mistake[] | undefined {
  const settled = useSettled(text);
  const { data } = useQuery({
    queryKey: ['validate', kind, name, settled],
    queryFn: ({ signal }) =>
      post<{ mistakes: Mistake[] }>('/documents/validate', { kind, text: settled, ...(name && { name }) }, signal),
    enabled: settled.trim() !== '',
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  return data?.mistakes;
}
