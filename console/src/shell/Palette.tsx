import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useApi } from '../api/query.tsx';
import { useOwnActions } from './own-actions.ts';
import { usePlaces } from './places.ts';

interface Option {
  readonly key: string;
  readonly label: string;
  readonly kind: string;
  readonly act: () => void;
}

/** Ctrl-K: any page, brand or action by a few letters of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const options = useOptions(typed.trim());
  const chosen = Math.min(at, options.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const choose = (option: Option | undefined) => {
    if (option === undefined) return;
    onClose();
    option.act();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) setAt((chosen + by + options.length) % options.length);
    else if (event.key === 'Enter') choose(options[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog is for typing
        autoFocus
        role="combobox"
        aria-label="Go to or do"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={`${id}-${chosen}`}
        placeholder="A page, a brand, an action, a reservation"
        autoComplete="off"
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label="Found" ref={list} tabIndex={-1}>
        {options.map((option, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={option.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => choose(option)}
            onPointerMove={() => setAt(index)}
          >
            {option.label}
            <small>{option.kind}</small>
          </div>
        ))}
      </div>
    </>
  );
}

function useOptions(typed: string): Option[] {
  const navigate = useNavigate();
  const { scheme, switchTheme, leave } = useOwnActions();
  const groups = usePlaces();
  const { data: brands } = useApi('integrations.list', { limit: 8, q: typed }, { enabled: typed !== '', keep: true });
  const go = (to: string) => () => void navigate({ to });
  const matches = ({ label, kind }: Option) => `${label} ${kind}`.toLowerCase().includes(typed.toLowerCase());
  const fixed: Option[] = [
    ...groups.flatMap(({ title, places }) =>
      places.map(({ to, label }) => ({ key: to, label, kind: title, act: go(to) })),
    ),
    {
      key: 'theme',
      label: scheme === 'dark' ? 'Light theme' : 'Dark theme',
      kind: 'Action',
      act: switchTheme,
    },
    { key: 'leave', label: 'Sign out', kind: 'Action', act: () => void leave('session.end') },
  ];
  const offered = typed === '' ? [] : (brands?.items ?? []);
  return [
    ...offered.map(({ name }) => ({
      key: `brand ${name}`,
      label: name,
      kind: 'Brand',
      act: go(`/integrations/${encodeURIComponent(name)}`),
    })),
    ...fixed.filter(matches),
    ...(typed === ''
      ? []
      : [
          {
            key: 'search',
            label: `Find “${typed}” in reservations`,
            kind: 'Search',
            act: () => void navigate({ to: '/reservations', search: { q: typed } }),
          },
        ]),
  ];
}
