import { Link } from '@tanstack/react-router';
import { Card, Empty, Head } from '../parts/basics.tsx';

export function NotFound() {
  return (
    <>
      <Head title="Page not found" />
      <Card>
        <Empty title="There is no page at this address" action={<Link to="/">Back to the overview</Link>} />
      </Card>
    </>
  );
}
