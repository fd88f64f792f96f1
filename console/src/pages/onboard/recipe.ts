/** Shell commands that sign and send one event. They need a POSIX shell, openssl and curl. */
export function curlRecipe(url: string, secret: string, brandId: string): string {
  const event = {
    event: 'reservation.created',
    timestamp: '1970-01-01T00:00:00Z',
    brand_id: brandId,
    data: {
      reservation_id: 'TEST-1',
      confirmation_number: 'TEST-1',
      check_in: '2031-05-04',
      check_out: '2031-05-08',
      status: 'confirmed',
      guests: [{ first_name: 'Ada', last_name: 'Example', email: 'ada@mail.example' }],
      stays: [{ room_type: 'Double', adults: 2 }],
    },
  };
  const body = JSON.stringify(event).replaceAll("'", "'\\''").replace(event.timestamp, `'"$now"'`);
  return `secret=${quoted(secret)}
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
seconds=$(date +%s)
body='${body}'
signature=$(printf '%s.%s' "$seconds" "$body" | openssl dgst -sha512 -hmac "$secret" | sed 's/^.* //')
curl -sS ${quoted(url)} -H 'content-type: application/json' \\
  -H "x-webhook-timestamp: $seconds" -H "x-webhook-signature: sha512=$signature" -d "$body"`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
