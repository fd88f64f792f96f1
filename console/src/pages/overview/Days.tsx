import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Answer } from '../../api/client.ts';
import { useApi } from '../../api/query.tsx';
import { Card, Empty, Loaded } from '../../parts/basics.tsx';
import { dayOf } from '../../parts/days.ts';
import { plural } from '../../parts/format.ts';
import { BrandLink } from '../../parts/links.tsx';

const dayCount = 28;
const leastDays = 7;
const dayText = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Brand by day: the upper half of a cell is how complete the pulls were, the lower half the events. */
export function Days() {
  const [q, setQ] = useState('');
  const query = useApi('overview.days', { q, days: dayCount }, { everyMs: 60_000, keep: true });
  const all = Array.from({ length: dayCount }, (_, index) =>
    new Date(Date.now() - (dayCount - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  );
  // On the first days, a picture of four weeks would be blank.
  const first = query.data?.items.flatMap((brand) => brand.days.map(({ day }) => day)).sort()[0];
  const days = all.filter((day, index) => (first && day >= first) || index >= dayCount - leastDays);
  return (
    <Card title="Complete?" aside="each day in UTC: pulls above, events below" flush>
      <Loaded query={query}>
        {({ items, brands }) => (
          <>
            {(brands > items.length || q !== '') && (
              <div className="more">
                <TextInput
                  label={`Find in ${plural(brands, 'brand')}`}
                  value={q}
                  onChange={(event) => setQ(event.currentTarget.value.trim())}
                />
              </div>
            )}
            {items.length === 0 ? (
              <Empty small title="No brand" />
            ) : (
              <div className="inset">
                <table className="days" aria-label="Completeness by brand and day">
                  <thead>
                    <tr>
                      <th scope="col">Brand</th>
                      {days.map((day, index) => (
                        <th scope="col" key={day}>
                          <span className={index % 7 === (days.length - 1) % 7 ? undefined : 'visually-hidden'}>
                            {dayText.format(new Date(day))}
                          </span>
                        </th>
                      ))}
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((brand) => (
                      <tr key={brand.integration}>
                        <th scope="row">
                          <BrandLink name={brand.integration} />
                        </th>
                        {days.map((day) => (
                          <Cell key={day} brand={brand} day={day} />
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

type Brand = Answer<'overview.days'>['items'][number];

function Cell({ brand, day }: { brand: Brand; day: string }) {
  const { pulled, pushed, text } = dayOf(brand, day);
  return (
    <td title={`${dayText.format(new Date(day))}: ${text}`}>
      <i data-tone={pulled} />
      <i data-tone={pushed} />
      <span className="visually-hidden">{text}</span>
    </td>
  );
}
