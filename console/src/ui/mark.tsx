/** Relay's logo. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="size-[22px] shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="4" fill="#ffc62b" />
      <path
        d="M5 10h7.5c3.4 0 4 3 5.5 6s2.1 6 5.5 6H27M5 22h7.5c1.7 0 2.7-.9 3.4-2.2M27 10h-3.5c-1.7 0-2.7.9-3.4 2.2"
        fill="none"
        stroke="#111315"
        strokeWidth="3"
      />
    </svg>
  );
}
