// Small signs on buttons; what they mean stands in the buttons' names.

const PATHS = {
  fold: "M3 6l5 5 5-5",
  larger: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5l-5 5M2.5 13.5l5-5",
  download: "M8 2.5v8M4.8 7.3L8 10.5l3.2-3.2M3 13.5h10",
  share: "M8 10.5v-8M4.8 5.7L8 2.5l3.2 3.2M3 8.5v5h10v-5",
  smaller: "M13 7H9V3M3 9h4v4M9 7l4.5-4.5M7 9l-4.5 4.5",
};

export type Sign = keyof typeof PATHS;

export function Icon({ name }: { name: Sign }) {
  return (
    <svg class="pdpw-sign" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
