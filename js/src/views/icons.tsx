// Small signs on buttons; what they mean stands in the buttons' names.

const PATHS = {
  fold: "M3 6l5 5 5-5",
  larger: "M9.5 2.5h4v4M6.5 13.5h-4v-4M13.5 2.5l-5 5M2.5 13.5l5-5",
  smaller: "M13 7H9V3M3 9h4v4M9 7l4.5-4.5M7 9l-4.5 4.5",
};

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="pdpw-sign" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
