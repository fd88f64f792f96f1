import { useContext } from 'react';
import { LiveContext } from '../api/live.ts';
import { zone } from '../parts/format.ts';
import { ask, useOwnActions } from './own-actions.ts';
import { useSession } from './session.ts';

const words = { slow: 'Slow connection', away: 'No connection' } as const;

/** Who is signed in, and what concerns only this person: theme, keys, signing out. */
export function UserMenu() {
  const { data: who } = useSession();
  const { on, reach } = useContext(LiveContext);
  const { scheme, switchTheme, leave } = useOwnActions();
  return (
    <div className="rail-foot">
      <span className="live" data-on={on}>
        <i />
        {reach.state === 'here' ? (on ? 'Live' : 'Polling every few seconds') : words[reach.state]}
      </span>
      <span className="live">Times in {zone}</span>
      <button type="button" className="rail-button who" popoverTarget="user-menu">
        <span title={who?.name}>{who?.name}</span>
        <span className="role">{who?.role}</span>
      </button>
      <div id="user-menu" popover="auto" className="user-menu">
        <button type="button" onClick={switchTheme}>
          {scheme === 'dark' ? 'Light theme' : 'Dark theme'}
        </button>
        <button type="button" popoverTarget="user-menu" popoverTargetAction="hide" onClick={() => ask('keys')}>
          Keyboard shortcuts <kbd>?</kbd>
        </button>
        <button type="button" onClick={() => void leave('session.end')}>
          Sign out
        </button>
        <button
          type="button"
          title="Ends your sessions in every browser"
          onClick={() => void leave('session.end_everywhere')}
        >
          Sign out everywhere
        </button>
      </div>
    </div>
  );
}
