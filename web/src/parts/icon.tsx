// Drawn here on a grid of 16: an icon package would be larger than the pages that use it.
const paths = {
  overview: 'M2 9h4v5H2zM6 2h4v12H6zM10 6h4v8h-4z',
  payments: 'M2 4h9M8 1l3 3-3 3M14 12H5M8 9l-3 3 3 3',
  deliveries: 'M1.5 8h6M5 5.5 7.5 8 5 10.5M10 3h4.5v10H10',
  deposits: 'M8 2v7M5 6.5 8 9.5l3-3M2 10v4h12v-4',
  review: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.5l2 1.5',
  requests:
    'M6 7a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14c0-3 2-4.5 4.5-4.5S10.5 11 10.5 14M11 8l1.5 1.5L15 6.5',
  partners: 'M2 14V6l6-4 6 4v8zM6 14v-4h4v4',
  ledger: 'M3 2h8.5L13 3.5V14H3zM6 5.5h4M6 8h4M6 10.5h2.5',
  rates: 'M1.5 12 6 7l3 3 5.5-6.5M11 3.5h3.5V7',
  qr: 'M2 2h4.5v4.5H2zM9.5 2H14v4.5H9.5zM2 9.5h4.5V14H2zM9.5 9.5H11V11M14 9.5V11M9.5 14v-1M12.5 12.5H14V14h-1.5z',
  recipients: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM4 4l8 8',
  reconciliation: 'M2 5h11l-3-3M14 11H3l3 3',
  requestLog: 'M2 3h12v10H2zM2 6h12M4.5 8.5l1.5 1-1.5 1M8 10.5h3.5',
  audit: 'M3 2h10v12H3zM5.5 6l1 1 2-2M10 6h1M5.5 10.5l1 1 2-2M10 10.5h1',
  settings: 'M2 4.5h6M12 4.5h2M8 2.5v4h4v-4zM2 11.5h2M8 11.5h6M4 9.5v4h4v-4z',
  key: 'M10.5 9a3.5 3.5 0 1 0-3.3-2.3L2 12v2h2.5v-1.5H6V11h1.5l.9-.9c.6.3 1.3.4 2.1-.1zM11 5v.1',
  team: 'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.8 2-4 4.5-4s4.5 1.2 4.5 4M11 7.3a2.2 2.2 0 1 0-.6-4.3M12 9.6c1.6.4 2.5 1.6 2.5 3.9',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.5 10.5 14 14',
  menu: 'M2 4h12M2 8h12M2 12h12',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  check: 'M3 8.5 6.5 12 13 4.5',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  person: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14.5c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5',
  alarms: 'M8 1.5 15 14H1zM8 6v4M8 11.5v.5',
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
