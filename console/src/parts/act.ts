import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSay } from './toast.tsx';

/** Something a person does: what it says when it is done, and that everything shown is read again. */
export function useAct<Input, Output>(
  act: (input: Input) => Promise<Output>,
  done: (output: Output, input: Input) => string | undefined,
) {
  const queries = useQueryClient();
  const say = useSay();
  return useMutation({
    mutationFn: act,
    onSuccess: (output, input) => {
      const text = done(output, input);
      if (text !== undefined) say(text);
      return queries.invalidateQueries();
    },
    onError: (error) => say(error.message, 'bad'),
  });
}
