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
 * secret or guest data into one: for documents there is `useTextDraft`, for samples `useTabDraft`.
 */
export function useDraft<T>(name: string): [draft: Draft<T> | undefined, save: (value: T | undefined) => void] {
  const { data: who } = useSession();
  return useStored<T>(localStorage, `innbound draft ${who?.name ?? ''} ${name}`);
}

export interface TextDraft<T> {
  readonly draft: Draft<T> | undefined;
  readonly save: (value: T | undefined) => void;
  /** It is lost with the tab. */
  readonly inTabOnly: boolean;
  /** Moves the draft to the storage that is allowed for it. */
  readonly settle: (secret: boolean) => void;
}

/**
 * For a text that may hold a typed credential. The draft lasts as long as the tab. Once `useKeeping` knows that it holds none, it also
 * survives signing out, as with `useDraft`.
 */
export function useTextDraft<T>(name: string): TextDraft<T> {
  const [kept, keep] = useDraft<T>(name);
  const [inTab, saveInTab] = useTabDraft<T>(name);
  const draft = inTab ?? kept;
  const inTabOnly = kept === undefined;
  const save = useCallback(
    (value: T | undefined) => {
      saveInTab(value);
      keep(undefined);
    },
    [keep, saveInTab],
  );
  const settle = useCallback(
    (secret: boolean) => {
      if (draft === undefined || secret === inTabOnly) return;
      if (secret) save(draft.value);
      else keep(draft.value);
    },
    [draft, inTabOnly, keep, save],
  );
  return { draft, save, inTabOnly, settle };
}

/** `secret`: whether the draft may hold a credential; undefined before that is known. */
export function useKeeping({ settle }: Pick<TextDraft<unknown>, 'settle'>, secret: boolean | undefined): void {
  useEffect(() => {
    if (secret !== undefined) settle(secret);
  }, [settle, secret]);
}

/** For samples, which may hold guest data: it lasts as long as the tab, and signing out removes it. */
export const useTabDraft = <T>(name: string): [draft: Draft<T> | undefined, save: (value: T | undefined) => void] =>
  useStored<T>(sessionStorage, `innbound draft ${name}`);

export function forgetTabDrafts(): void {
  sessionStorage.clear();
}

function useStored<T>(storage: Storage, key: string): [Draft<T> | undefined, (value: T | undefined) => void] {
  const [held, setHeld] = useState(() => ({ key, draft: read<T>(storage, key) }));
  // Read while rendering, not in an effect: after a change of the key, no render may see the draft of something else.
  const current = held.key === key ? held : { key, draft: read<T>(storage, key) };
  if (current !== held) setHeld(current);
  const save = useCallback(
    (value: T | undefined) => {
      const draft = value === undefined ? undefined : { value, savedMs: Date.now() };
      setHeld({ key, draft });
      write(storage, key, draft);
    },
    [storage, key],
  );
  return [current.draft, save];
}

function read<T>(storage: Storage, key: string): Draft<T> | undefined {
  try {
    const text = storage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Draft<T>);
  } catch {
    return undefined;
  }
}

/** If storage is full or forbidden, only the draft is lost, not the text on the page. */
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
