import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** `lead` in the first column of a table, where the name stands out. */
interface Look {
  readonly lead?: boolean;
}

export function BrandLink({ name, lead }: { name: string } & Look) {
  return (
    <Link to="/integrations/$name" params={{ name }} {...(lead && { className: 'name' })}>
      {name}
    </Link>
  );
}

/** To a record's timeline; its id unless `children` say something else. */
export function RecordLink(
  props: {
    integration: string;
    type?: string;
    id: string;
    newTab?: boolean;
    children?: ReactNode;
  } & Look,
) {
  const { integration, type = 'reservation', id } = props;
  return (
    <Link
      to="/reservations/$name/$type/$id"
      params={{ name: integration, type: `${type}s`, id }}
      {...(props.lead && { className: 'name' })}
      {...(props.newTab && { target: '_blank' })}
    >
      {props.children ?? id}
    </Link>
  );
}
