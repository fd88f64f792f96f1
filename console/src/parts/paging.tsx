import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../api/client.ts';
import type { Page } from '../api/types.ts';

/** A list that is read on with cursors. `all` is what was read so far. */
export function usePages<T, P extends Page<T> = Page<T>>(
  key: string,
  path: string,
  query: Record<string, string | number | undefined>,
  everyMs: number | false,
) {
  const pages = useInfiniteQuery({
    queryKey: [key, path, query],
    queryFn: ({ pageParam, signal }) => get<P>(path, { ...query, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: everyMs,
    placeholderData: (before) => before,
  });
  return {
    query: { data: pages.data, error: pages.error, isPending: pages.isPending },
    all: pages.data?.pages.flatMap(({ items }) => items) ?? [],
    first: pages.data?.pages[0],
    more: <More pages={pages} />,
    again: () => void pages.refetch(),
    busy: pages.isFetching,
  };
}

function More({
  pages,
}: {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  if (!pages.hasNextPage) return null;
  return (
    <div style={{ padding: '10px 16px 12px' }}>
      <Button variant="default" size="xs" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
