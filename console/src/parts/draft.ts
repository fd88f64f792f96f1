import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../shell/session.ts';

/** Work that is not applied yet, as the browser keeps it. */
export interface Draft<T> {
  readonly value: T;
  /** When it was last changed, in epoch milliseconds. */
  readonly savedMs: number;
}

/**
 * Drafts survive navigation, reloads and signing out. They stay in this browser, under the name of who wrote them. Never put a
 * secret or guest data into one: for samples there is `useTabDraft`.
 */
export function useDraft<T>(name: string): [draft: Draft<T> | undefined, save: (value: T | undefined) => void] {
  const { data: who } = useSession();
  return useStored<T>(localStorage, `innbound draft ${who?.name ?? ''} ${name}`);
}

/** For samples, which may hold guest data: it lasts as long as the tab, and signing out removes it. */
export const useTabDraft = <T>(name: string): [draft: Draft<T> | undefined, save: (value: T | undefined) => void] =>
  useStored<T>(sessionStorage, `innbound draft ${name}`);

export function forgetTabDrafts(): void {
  sessionStorage.clear();
}

function useStored<T>(storage: Storage, key: string): [Draft<T> | undefined, (value: T | undefined) => void] {
  const [draft, setDraft] = useState(() => read<T>(storage, key));
  useEffect(() => setDraft(read<T>(storage, key)), [storage, key]);
  const save = useCallback(
    (value: T | undefined) => {
      const next = value === undefined ? undefined : { value, savedMs: Date.now() };
      setDraft(next);
      write(storage, key, next);
    },
    [storage, key],
  );
  return [draft, save];
}

function read<T>(storage: Storage, key: string): Draft<T> | undefined {
  try {
    const text = storage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Draft<T>);
  } catch {
    return undefined;
  }
}

/** A full or forbidden storage costs the draft, not the work on the page. */
function write(storage: Storage, key: string, draft: unknown): void {
  try {
    if (draft === undefined) storage.removeItem(key);
    else storage.setItem(key, JSON.stringify(draft));
  } catch {
    // Nothing to do: the text is still in the editor.
  }
}

/** Asks before the tab is closed or reloaded with work in it. */
export function useLeaveWarning(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [dirty]);
}
