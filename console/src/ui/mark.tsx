/** Relay's logo. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="size-6 shrink-0" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f766e" />
      <path
        d="M7 10h6.5c3 0 3.5 3 5 6s2 6 5 6H25M7 22h6.5c1.6 0 2.5-.9 3.2-2.2M25 10h-1.5c-1.6 0-2.5.9-3.2 2.2"
        fill="none"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
      />
    </svg>
  );
}
