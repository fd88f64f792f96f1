import type { ReactNode } from 'react';

const draw = (children: ReactNode) => (
  <svg
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

/** The logo: a reception bell with an incoming line. */
export const Mark = () => (
  <svg
    viewBox="0 0 32 32"
    fill="none"
    stroke="currentColor"
    strokeWidth="2.2"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d="M6.5 22.5a9.5 9.5 0 0 1 19 0M4 26.5h24M16 3v9m-3.4-3.2L16 12.2l3.4-3.4" />
  </svg>
);

export const icons = {
  performance: draw(<path d="M3 16.5h14M4 12.5l3.5-4 3 2.5L16 4.5" />),
  overview: draw(<path d="M3 15.5h14M5 15.5a5 5 0 0 1 10 0M10 7.5V5m-5 3-1.5-1.5M15 8l1.5-1.5" />),
  search: draw(<path d="M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12Zm4.3-1.7L17 17" />),
  guests: draw(
    <path d="M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2 16.5a5.5 5.5 0 0 1 11 0M13 4a3 3 0 0 1 0 5.5M15 11.8a5.5 5.5 0 0 1 3 4.7" />,
  ),
  dead: draw(<path d="M3 5.5h14v9.5H3zM3.5 6l6.5 5 6.5-5M12 13.5l3 3m0-3-3 3" />),
  alerts: draw(
    <path d="M10 3a4.5 4.5 0 0 0-4.5 4.5c0 4-1.5 5-1.5 6h12c0-1-1.5-2-1.5-6A4.5 4.5 0 0 0 10 3Zm-1.5 13a1.6 1.6 0 0 0 3 0" />,
  ),
  integrations: draw(
    <path d="M4 17V5.5L10 3l6 2.5V17M2.5 17h15M8 17v-3.5h4V17M7.5 8h.01M12.5 8h.01M7.5 10.8h.01M12.5 10.8h.01" />,
  ),
  runs: draw(<path d="M16.5 10a6.5 6.5 0 1 1-2-4.7M16.5 3v3h-3M10 6.5V10l2.3 1.5" />),
  events: draw(<path d="M11 2.5 4.5 11.5H10l-1 6L15.5 8.5H10z" />),
  destinations: draw(<path d="M3 10h9m-3.5-3.5L12 10l-3.5 3.5M12 4h5v12h-5" />),
  incidents: draw(<path d="M10 3 2.500 16.500h15zM10 8v4M10 14.200v.1" />),
  jobs: draw(<path d="M3 5.500h9M3 10h6M3 14.500h4M12.500 9.500l4.500 3-4.500 3z" />),
  studio: draw(
    <path d="M3 4.5h5M3 10h5M3 15.5h5M12 4.5h5M12 10h5M12 15.5h5M8 4.5c2.5 0 1.5 5.5 4 5.5M8 15.5c2.5 0 1.5-11 4-11" />,
  ),
  onboard: draw(<path d="M10 4v12M4 10h12" />),
  documents: draw(<path d="M5 2.5h7l3.5 3.5v11.5H5zM11.5 2.5V6.5h4M7.5 10h5.5M7.5 13h5.5" />),
  privacy: draw(<path d="M10 2.5 4 5v4.5c0 4 2.5 6.5 6 8 3.5-1.5 6-4 6-8V5zM7.5 9.8l1.8 1.8 3.2-3.4" />),
  secrets: draw(<path d="M5 9h10v8H5zM7 9V6.500a3 3 0 0 1 6 0V9M10 12.200v1.800" />),
  tokens: draw(<path d="M7 13.5a3.5 3.5 0 1 1 3.2-5H17.5v3h-2v2h-3v-2h-2.300A3.5 3.5 0 0 1 7 13.5Zm0-3.5h.01" />),
  audit: draw(
    <path d="M4 3h9.5a2.5 2.5 0 0 1 2.5 2.5V17H6.5A2.5 2.5 0 0 1 4 14.5zM4 14.5A2.5 2.5 0 0 1 6.5 12H16M7.5 6h5" />,
  ),
  more: draw(<path d="M3.5 5.5h13M3.5 10h13M3.5 14.5h13" />),
  copy: draw(<path d="M7.5 7.5V4h8.5v8.5h-3.5M4 7.5h8.5V16H4z" />),
  done: draw(<path d="m4.5 10.5 3.5 3.5 7.5-8" />),
  bell: draw(<path d="M3.5 14a6.5 6.5 0 0 1 13 0M2.5 16.5h15M10 7.5V5" />),
};
