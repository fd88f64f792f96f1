import { Button } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { meaning } from '../parts/basics.tsx';
import { capital } from '../parts/format.ts';
import { useSay } from '../parts/toast.tsx';
import { type Answer, call, type Input, type OperationId, Problem } from './client.ts';

/** An operation's answer, read again as the options say, and cached under the operation's id and input. */
export function useApi<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
  options: {
    readonly enabled?: boolean;
    readonly staleMs?: number;
    /** Never show an answer that was read for another part of the page: the server has just said that it is outdated. */
    readonly fresh?: true;
    readonly everyMs?: number | false | ((answer: Answer<Id> | undefined) => number | false);
    /** Show the last answer while the next one loads. */
    readonly keep?: boolean;
    /** False for payloads with guest data: each read is audited, and returning to a tab should not be one. */
    readonly onFocus?: boolean;
    readonly retry?: false;
  } = {},
) {
  const { everyMs } = options;
  return useQuery<Answer<Id>>({
    queryKey: options.fresh ? [id, input, 'fresh'] : [id, input],
    queryFn: ({ signal }) => send(id, input, signal),
    ...(options.enabled !== undefined && { enabled: options.enabled }),
    ...(options.staleMs !== undefined && { staleTime: options.staleMs }),
    ...(options.fresh && { staleTime: 0, gcTime: 0 }),
    ...(options.onFocus !== undefined && { refetchOnWindowFocus: options.onFocus }),
    ...(options.retry !== undefined && { retry: options.retry }),
    ...(everyMs !== undefined && {
      refetchInterval: typeof everyMs === 'function' ? ({ state }) => everyMs(state.data) : everyMs,
    }),
    ...(options.keep && { placeholderData: keepPreviousData }),
  });
}

type Listing = {
  [Id in OperationId]: Answer<Id> extends { items: unknown[]; next_cursor: string | null } ? Id : never;
}[OperationId];

/** A list that is read page by page with cursors. `rows` holds everything read so far. */
export function usePages<Id extends Listing>(id: Id, input: Omit<Input<Id>, 'cursor'>, everyMs: number | false) {
  const pages = useInfiniteQuery({
    queryKey: [id, input, 'pages'],
    queryFn: ({ pageParam, signal }) => send(id, { ...input, cursor: pageParam } as Input<Id>, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    refetchInterval: everyMs,
  });
  const read = pages.data?.pages;
  return {
    rows: read?.flatMap(({ items }) => items as Answer<Id>['items'][number][]),
    error: pages.error,
    first: read?.[0],
    more: pages.hasNextPage && (
      <div className="more">
        <Button
          variant="default"
          size="xs"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Show more
        </Button>
      </div>
    ),
    refresh: () => void pages.refetch(),
    busy: pages.isFetching,
  };
}

/** Something a person does: `done` describes what happened, and everything on the page is read again. */
export function useAct<Given, Done>(
  act: (given: Given) => Promise<Done>,
  done: (answer: Done, given: Given) => string | undefined,
) {
  const queries = useQueryClient();
  const say = useSay();
  return useMutation({
    mutationFn: act,
    onSuccess: (answer, given) => {
      const text = done(answer, given);
      if (text !== undefined) say(text);
      return queries.invalidateQueries();
    },
    onError: (error) => say(refusal(error), 'bad'),
  });
}

/** Why it was refused; for a conflict also what to do about it. */
function refusal(error: Error): string {
  const next = error instanceof Problem && error.status === 409 ? meaning(error.code)?.next : undefined;
  const text = capital(error.message);
  return next === undefined ? text : `${text.replace(/\.?$/, '.')} ${next}`;
}

/** `call` for an id that is itself a type parameter, where TypeScript cannot see whether the input may be left out. */
const send = call as <Id extends OperationId>(id: Id, input: Input<Id>, signal: AbortSignal) => Promise<Answer<Id>>;
