/** Without the prefix that a dual-stack socket puts before IPv4 addresses. */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/, '');

/** The key for limits per address: an IPv6 host usually controls a whole /64. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  return plain.includes(':') ? plain.split(':', 4).join(':') : plain;
}
