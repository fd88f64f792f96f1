import { useInfiniteQuery } from '@tanstack/react-query';
import { call } from './client.ts';
import type { Timeline } from './types.ts';

const limit = 200;
const isPending = (story: Timeline | undefined): boolean =>
  story?.deliveries.some(({ due_at }) => due_at !== null) === true;

/** The timeline of a record: the newest entries, and older ones on request. All are read again together, so that none is missing between. */
export function useTimeline(type: 'reservations' | 'guests', integration: string, id: string) {
  const operation = `${type}.timeline` as const;
  const parts = useInfiniteQuery({
    queryKey: [operation, { integration, id }, 'pages'],
    queryFn: ({ pageParam, signal }): Promise<Timeline> =>
      call(operation, { integration, id, limit, ...(pageParam !== undefined && { cursor: pageParam }) }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    // The live feed reports changes of this record; polling is needed only while a delivery is pending.
    refetchInterval: ({ state }) => (isPending(state.data?.pages[0]) ? 5_000 : false),
  });
  const [newest, ...older] = parts.data?.pages ?? [];
  const timeline = [...older.toReversed().flatMap((part) => part.timeline), ...(newest?.timeline ?? [])];
  return {
    data: newest && { ...newest, timeline },
    error: parts.error,
    more: parts.hasNextPage
      ? { isReading: parts.isFetchingNextPage, read: () => void parts.fetchNextPage() }
      : undefined,
  };
}
