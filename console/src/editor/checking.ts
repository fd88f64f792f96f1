import { useEffect, useState } from 'react';
import { useApi } from '../api/query.tsx';
import type { DocumentKind, Mistake } from '../api/types.ts';
import type { Schema } from './completion.ts';
import { fileOf } from './file-name.ts';

/** The value once it has not changed for a moment. */
export function useSettled<T>(value: T, ms = 350): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

export function useSchema(kind: DocumentKind): Schema | undefined {
  const { data } = useApi('documents.schema', { kind }, { staleMs: Number.POSITIVE_INFINITY });
  // The answer is a JSON Schema, which the API's description leaves open.
  return data === undefined ? undefined : (data as Schema);
}

/** The mistakes of a text, checked together with all other documents while it is typed. Undefined until the first check. */
export function useMistakes(
  kind: DocumentKind,
  name: string | undefined,
  text: string,
): readonly Mistake[] | undefined {
  return useCheck(kind, name, text).mistakes;
}

/**
 * `secret` says whether this very text may hold a credential: undefined before its check, true for an invalid text, where a
 * credential may be under a misspelled key.
 */
export function useCheck(
  kind: DocumentKind,
  name: string | undefined,
  text: string,
): { mistakes: readonly Mistake[] | undefined; secret: boolean | undefined } {
  const settled = useSettled(text);
  const { data, isPlaceholderData } = useApi(
    'documents.validate',
    { kind, name: name || undefined, text: settled },
    { enabled: settled.trim() !== '', staleMs: 60_000, keep: true },
  );
  const isOfThisText = data !== undefined && !isPlaceholderData && settled === text;
  // Those in other documents have other lines. An apply that is refused for them links to them.
  const own = data?.mistakes.filter(({ file }) => file === fileOf(kind, name || 'new-document'));
  return { mistakes: own, secret: isOfThisText ? data.holds_credentials || own?.length !== 0 : undefined };
}
