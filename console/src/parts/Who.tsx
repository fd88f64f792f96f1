import type { Guest } from '../api/record.ts';
import { fullName } from '../api/record.ts';

/** A person in a list: the name, the keys, and where the person is stored. */
export function Who({ guest, id }: { guest: Partial<Guest>; id: React.ReactNode }) {
  return (
    <>
      <strong>{fullName(guest) || 'without a name'}</strong>
      <div className="small">{[guest.email, guest.phone, guest.guest_id].filter(Boolean).join(' · ')}</div>
      <div className="muted small">{id}</div>
    </>
  );
}
